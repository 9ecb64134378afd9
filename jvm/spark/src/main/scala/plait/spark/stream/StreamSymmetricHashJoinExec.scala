// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeLike}
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.streaming.operators.stateful._
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper._
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}
import org.apache.spark.sql.plait.{StreamingState, UnsentSettings}
import org.apache.spark.sql.streaming.{OutputMode, StateOperatorProgress}
import org.apache.spark.util.SerializableConfiguration
import org.apache.spark.{SparkContext, TaskContext}

import plait.spark.side.PeakMetric
import plait.spark.translate.JoinedColumns
import plait.spark.{EventTimeFrontier, PlaitConf}
import plait.stream.Frontier
import plait.{BySide, Side}

/** The pruning symmetric hash join of two streams, batch by batch:
  *
  * {{{
  *   left rows of the batch                  right rows of the batch
  *        |  dealt by key                         |
  *        +------------> StreamJoin <-------------+
  *                        |      |
  *        rows that come out    rows that wait: one state store a partition
  *
  * frontiers of batch n = what the rows before it promised (FrontierLog), and Spark's watermark
  * }}}
  *
  * Spark gives state, watermarks, schema files and progress to the nodes that it knows, so this is one of
  * them: a subclass of its join of streams that keeps nothing of how that one works. To Spark it is an INNER
  * join; the type that it has is in the [[StreamSpec]].
  */
final class StreamSymmetricHashJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    sparksType: JoinType,
    condition: JoinConditionSplitPredicates,
    stateInfo: Option[StatefulOperatorStateInfo],
    eventTimeWatermarkForLateEvents: Option[Long],
    eventTimeWatermarkForEviction: Option[Long],
    stateWatermarkPredicates: JoinStateWatermarkPredicates,
    sparksFormat: Int,
    left: SparkPlan,
    right: SparkPlan,
    outputMode: Option[OutputMode],
    @transient val spec: StreamSpec,
    val columns: BySide[Seq[Attribute]],
    val found: BySide[MicroBatchSide]
) extends StreamingSymmetricHashJoinExec(
      leftKeys,
      rightKeys,
      sparksType,
      condition,
      stateInfo,
      eventTimeWatermarkForLateEvents,
      eventTimeWatermarkForEviction,
      stateWatermarkPredicates,
      sparksFormat,
      left,
      right,
      outputMode
    ) {

  // Not yet while Spark's constructor runs.
  private val isMade = true
  override protected def sparkContext: SparkContext =
    if (isMade) super.sparkContext else UnsentSettings.context

  // What Spark copies it with: its own arguments, to which ours are added.
  override def copy(
      leftKeys: Seq[Expression],
      rightKeys: Seq[Expression],
      joinType: JoinType,
      condition: JoinConditionSplitPredicates,
      stateInfo: Option[StatefulOperatorStateInfo],
      eventTimeWatermarkForLateEvents: Option[Long],
      eventTimeWatermarkForEviction: Option[Long],
      stateWatermarkPredicates: JoinStateWatermarkPredicates,
      stateFormatVersion: Int,
      left: SparkPlan,
      right: SparkPlan,
      outputMode: Option[OutputMode]
  ): StreamingSymmetricHashJoinExec = new StreamSymmetricHashJoinExec(
    leftKeys,
    rightKeys,
    joinType,
    condition,
    stateInfo,
    eventTimeWatermarkForLateEvents,
    eventTimeWatermarkForEviction,
    stateWatermarkPredicates,
    stateFormatVersion,
    left,
    right,
    outputMode,
    spec,
    columns,
    found
  )

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): StreamingSymmetricHashJoinExec = copy(left = newLeft, right = newRight)

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(spec, columns, found)

  override def nodeName: String =
    if (spec.asOf.isDefined) "StreamAsOfJoin" else "StreamSymmetricHashJoin"
  override def shortName: String = StreamSymmetricHashJoinExec.OperatorName

  override protected def stringArgs: Iterator[Any] =
    Iterator(leftKeys, rightKeys, spec.joinType) ++ spec.asOf
      .map(_.best)
      .iterator ++ condition.full.iterator ++
      Side.both.map(side => s"${side.name} ${spec.pruning(side)}") ++ stateInfo.iterator

  /** With the event times that the sides' own columns do not show. */
  override def output: Seq[Attribute] =
    JoinedColumns.of(spec.joinType, columns.left, columns.right)

  override def outputPartitioning: Partitioning = spec.joinType match {
    case LeftOuter | LeftExistence(_) => left.outputPartitioning
    case RightOuter => right.outputPartitioning
    case FullOuter => UnknownPartitioning(left.outputPartitioning.numPartitions)
    case _ => PartitioningCollection(Seq(left.outputPartitioning, right.outputPartitioning))
  }

  // One store, and what is written of it is what Spark writes of an operator with one store.
  override val stateStoreNames: Seq[String] = Seq(StateStoreId.DEFAULT_STORE_NAME)
  override def operatorStateMetadataVersion: Int = 1
  override def operatorStateMetadata(
      stateSchemaPaths: List[List[String]]
  ): OperatorStateMetadata = OperatorStateMetadataV1(
    OperatorInfoV1(getStateInfo.operatorId, shortName),
    Array(StateStoreMetadataV1(StateStoreId.DEFAULT_STORE_NAME, 0, getStateInfo.numPartitions))
  )

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int
  ): List[StateSchemaValidationResult] = {
    val schema = StateStoreColFamilySchema(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      0,
      StateLayout.keySchema,
      0,
      new StateLayout(inputs).valueSchema
    )
    StateFormat.check(this, hadoopConf)
    def stored = StreamingState.storedSchema(getStateInfo, hadoopConf)
    List(ChangedTypes.told(stored, schema.valueSchema) {
      StateSchemaCompatibilityChecker.validateAndMaybeEvolveStateSchema(
        getStateInfo,
        hadoopConf,
        List(schema),
        StreamingState.sessionState(this),
        StreamSymmetricHashJoinExec.SparksFormat,
        storeName = StateStoreId.DEFAULT_STORE_NAME
      )
    })
  }

  override def customStatefulOperatorMetrics: Seq[StatefulOperatorCustomMetric] =
    StreamMetrics.all ++ (if (spec.asOf.isDefined) StreamMetrics.ofAsOf else Nil)

  private def inputs: BySide[Seq[Attribute]] = BySide(left.output, right.output)
  private def input(side: Side): SparkPlan = if (side eq Side.Left) left else right

  /** Of this batch: what the rows before it promised, and Spark's watermark. */
  @transient private lazy val frontiers: BySide[Long] = {
    val own = promisedBefore
    BySide.make { side =>
      if (isOver(side)) Frontier.Over
      else Frontier.at(math.max(own(side), ofWatermark(side, eventTimeWatermarkForEviction)))
    }
  }

  /** Below which no row of a side waits. */
  private def bound(side: Side): Long = frontiers(side.other) match {
    case Frontier.Unknown => Frontier.Unknown
    case Frontier.Over => Frontier.Over
    case frontier => spec.bounds(side)(frontier)
  }

  /** A bounded side is over with the first micro-batch for which its sources have nothing. */
  private def isOver(side: Side): Boolean = promisedBefore(side) == Frontier.Over ||
    (spec.bounded(side).nonEmpty && (found(side).supply eq Supply.Nothing))

  /** Where nothing but Spark's watermark says how far the sides have come, there is nothing to write down. */
  private def isLogged: Boolean =
    (PlaitConf(conf).eventTimeFrontier eq EventTimeFrontier.OfSide) ||
      Side.both.exists(s => spec.frontiers(s).declared.isDefined || spec.bounded(s).nonEmpty)

  @transient private lazy val promisedBefore: BySide[Long] =
    if (isLogged) frontierLog.of(batch) else FrontierLog.Nothing

  private def batch: Long = getStateInfo.storeVersion
  private def frontierLog: FrontierLog = FrontierLog.at(
    getStateInfo.checkpointLocation,
    getStateInfo.operatorId,
    StreamingState.sessionState(this).newHadoopConf()
  )

  /** A row of which an event time is not after the watermark of the batch before, as Spark says. */
  private def lateness: BySide[Option[Expression]] = BySide.make { side =>
    eventTimeWatermarkForLateEvents.filter(_ > 0).flatMap { ms =>
      spec
        .eventTimes(side)
        .map(time => LessThanOrEqual(time, Literal(ms * 1000, time.dataType)): Expression)
        .reduceOption(Or(_, _))
    }
  }

  /** By which rows may be late that are not so by their event time. */
  private def orders: BySide[Option[StreamOrder]] = BySide.make { side =>
    spec.frontiers(side).declared.map { declared =>
      val zone = conf.sessionLocalTimeZone
      new StreamOrder(declared, inputs(side), PlaitConf(conf).orderViolationInStreams, zone)
    }
  }

  /** Spark's 0 is no watermark yet; later rows are after it. */
  private def ofWatermark(side: Side, watermark: Option[Long]): Long =
    watermark.filter(_ > 0).fold(Long.MinValue) { ms =>
      spec.frontiers(side).atEventTime(ms * 1000 + 1)
    }

  /** What the rows up to this batch, which has run, promise of later ones. */
  private def promised: BySide[Long] = {
    val before = promisedBefore
    BySide.make { side =>
      val seen =
        SeenFrontier.of(input(side), spec.frontiers(side), PlaitConf(conf).eventTimeFrontier)
      if (isOver(side)) Frontier.Over else Frontier.at(math.max(before(side), seen))
    }
  }

  override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean = {
    val next = promised
    val waits = longMetric("numTotalStateRows").value > 0
    waits && Side.both.exists { side =>
      // Without rows it is seen that a bounded side is over.
      (spec.bounded(side).nonEmpty && !isOver(side)) ||
      math.max(next(side), ofWatermark(side, Some(newInputWatermark))) > frontiers(side)
    }
  }

  /** For the tasks of this batch, if they begin only when all of its rows have been read. */
  private def promisedAsSent: Option[PromisedAsSent] = Option.when(
    isLogged && Side.both.forall(input(_) match {
      case _: ShuffleExchangeLike | _: ReusedExchangeExec => true
      case _ => false
    })
  )(new PromisedAsSent(() => promised))

  /** Spark asks when the batch is committed: late, but in time to write down what the next one is run with, where no task
    * could know it.
    */
  override def getProgress(): StateOperatorProgress = {
    if (isLogged) {
      frontierLog.note(batch + 1, promised)
      frontierLog.purge(batch - conf.minBatchesToRetain)
    }
    val progress = super.getProgress()
    customStatefulOperatorMetrics.map(_.name).foreach { name =>
      progress.customMetrics.put(name, PeakMetric.valueOf(metrics(name)))
    }
    for ((metric, rank) <- known) progress.customMetrics.put(metric, rank)
    progress
  }

  /** Where nothing is known, the beginning: of a node without a watermark Spark asks nothing, and takes that of the other
    * inputs of the nodes above for its rows too.
    */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] =
    Some(spec.outputWatermark(inputWatermarkMs).getOrElse(0L))

  override protected def doExecute(): RDD[InternalRow] = {
    val session = StreamingState.sessionState(this)
    val coordinator = StreamingState.coordinator(this)
    val info = getStateInfo
    val storeConf = new StateStoreConf(session.conf)
    val hadoopConf =
      sparkContext.broadcast(new SerializableConfiguration(session.newHadoopConf()))
    tellKnown()
    val task = taskOf(
      StreamBatch(
        BySide(leftKeys, rightKeys),
        spec.ranks,
        inputs,
        frontiers,
        lateness,
        PlaitConf(conf).lateRows,
        orders,
        spec.bounded,
        found.map(_.lifetime),
        PlaitConf(conf).atStateTtl,
        PlaitConf(conf).keyLimit,
        metrics
      )
    )
    val layout = new StateLayout(inputs)
    val (sent, number) = (promisedAsSent, batch)
    left
      .execute()
      .stateStoreAwareZipPartitions(right.execute(), info, stateStoreNames, coordinator) {
        (partition, leftRows, rightRows) =>
          val store =
            StreamingState.open(
              info,
              partition,
              StateLayout.keySchema,
              layout.valueSchema,
              storeConf,
              hadoopConf.value.value
            )
          TaskContext
            .get()
            .addTaskCompletionListener[Unit](_ => if (!store.hasCommitted) store.abort())
          val started = System.nanoTime
          task.join(store, BySide(leftRows, rightRows)) { waiting =>
            metrics("allUpdatesTimeMs") += (System.nanoTime - started) / 1000000
            for (promise <- sent if partition == 0)
              FrontierLog
                .at(info.checkpointLocation, info.operatorId, hadoopConf.value.value)
                .note(number + 1, promise.ranks)
            metrics("commitTimeMs") += timeTakenMs { val _ = store.commit() }
            saved(store, waiting)
          }
      }
  }

  /** What has a frontier or a bound; told when the batch begins, and when it is over. */
  @transient private lazy val known: Seq[(String, Long)] = Side.both
    .flatMap { side =>
      Seq(
        StreamMetrics.frontier(side) -> frontiers(side),
        StreamMetrics.bound(side) -> bound(side)
      )
    }
    .filter(_._2 != Frontier.Unknown)

  /** To Spark's UI, by value: a metric of Spark's takes no negative number, and ranks may be such. */
  private def tellKnown(): Unit =
    SQLMetrics.postDriverMetricsUpdatedByValue(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      known.map { case (metric, rank) => metrics(metric).id -> rank }
    )

  private def taskOf(batch: StreamBatch): StreamTask = spec.asOf match {
    case Some(asOf) => new StreamAsOfTask(spec.joinType, asOf, batch)
    case None => new StreamJoinTask(spec.joinType, condition.full, spec.rankless, batch)
  }

  private def saved(store: StateStore, waiting: Long): Unit = {
    metrics("numTotalStateRows") += waiting
    metrics("stateMemory") += store.metrics.memoryUsedBytes
    setStoreCustomMetrics(store.metrics.customMetrics)
    setStoreInstanceMetrics(store.metrics.instanceMetrics)
    setOperatorMetrics()
    if (StatefulOperatorStateInfo.enableStateStoreCheckpointIds(conf)) {
      val saved = store.getStateStoreCheckpointInfo()
      setStateStoreCheckpointInfo(
        StatefulOpStateStoreCheckpointInfo(
          saved.partitionId,
          saved.batchVersion,
          saved.stateStoreCkptId.map(Array(_)),
          saved.baseStateStoreCkptId.map(Array(_))
        )
      )
    }
  }
}

object StreamSymmetricHashJoinExec {

  /** In the metadata of a checkpoint. */
  val OperatorName = "plaitSymmetricHashJoin"

  /** The format of Spark's own join that this node says it has; the layout is Plait's. */
  val SparksFormat = 2

  /** The join that Spark takes it for. */
  val SparksType: JoinType = Inner
}
