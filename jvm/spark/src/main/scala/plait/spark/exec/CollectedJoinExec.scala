// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeSeq, BindReferences, Expression}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeLike, ReusedExchangeExec}
import org.apache.spark.sql.execution.joins.plait.{BroadcastRelation, ProbingHashJoin}
import org.apache.spark.sql.execution.joins.{
  BroadcastNestedLoopJoinExec,
  HashJoin,
  HashedRelationBroadcastMode
}
import org.apache.spark.sql.execution.metric.SQLMetric

import plait.spark.PlaitConf
import plait.spark.side._
import plait.{BySide, Side}

/** The join with one side *collected*: broadcast, and indexed once an executor by key and interval. The
  * other side streams through as it comes, unsorted and unshuffled, and each of its rows looks up the
  * collected rows of its key whose interval meets its own.
  *
  * {{{
  * points p, ranges r        p.x BETWEEN r.lo AND r.hi        r collected
  *   p row x = 5   looks up [5, 5]   finds r [1, 9], not r [6, 7]   then the condition is evaluated
  * }}}
  *
  * The join around the index is Spark's own hash join: its types, its generated code. Where the small side was
  * broadcast by key and few of its rows are seen to share one, rows are looked up by key alone, as Spark does,
  * and there is no index; where it is not known that enough rows stream through, they are until it has cost as much
  * ([[plait.spark.side.LateIntervalRelation]]).
  *
  * What it does not promise: that the collected side fits in memory, which is for the planner to see
  * to, as with every broadcast.
  *
  * To Spark it is one of its broadcast joins: adaptive execution takes back every plan in which a side
  * that has been broadcast stands below any other node. So it has the parts of a case class by hand.
  *
  * @param keysOfLeft
  *   may be empty: then all rows share one key
  * @param intervalOfLeft
  *   two longs (see [[plait.spark.translate.IntervalExpressions]])
  * @param indexFrom
  *   the index pays if a row shares its key with so many rows, on average; 0 where that need not be counted
  * @param indexAfter
  *   it is made once an executor has gone through so many rows by key, for each collected one; 0 where it is made at once
  */
final class CollectedJoinExec(
    keysOfLeft: Seq[Expression],
    keysOfRight: Seq[Expression],
    kind: JoinType,
    collected: Side,
    predicate: Option[Expression],
    intervalOfLeft: Seq[Expression],
    intervalOfRight: Seq[Expression],
    indexFrom: Long,
    indexAfter: Long,
    leftChild: SparkPlan,
    rightChild: SparkPlan,
    override val pruning: BySide[SidePruning]
) extends BroadcastNestedLoopJoinExec(
      leftChild,
      rightChild,
      if (collected eq Side.Left) BuildLeft else BuildRight,
      kind,
      predicate
    )
    with ProbingHashJoin
    with PlaitJoinExec {

  private val parts = IndexedSeq[Any](
    keysOfLeft,
    keysOfRight,
    kind,
    collected,
    predicate,
    intervalOfLeft,
    intervalOfRight,
    indexFrom,
    indexAfter,
    leftChild,
    rightChild
  )
  override def productPrefix: String = "CollectedJoinExec"
  override def productArity: Int = parts.size
  override def productElement(n: Int): Any = parts(n)
  override def canEqual(other: Any): Boolean = other.isInstanceOf[CollectedJoinExec]
  override def equals(other: Any): Boolean = other match {
    case that: CollectedJoinExec => productIterator.sameElements(that.productIterator)
    case _ => false
  }
  override protected def otherCopyArgs: Seq[AnyRef] = Seq(pruning)

  override def nodeName: String = "CollectedJoin"
  override def leftKeys: Seq[Expression] = keysOfLeft
  override def rightKeys: Seq[Expression] = keysOfRight

  private def keys(side: Side) = {
    val own = if (side eq Side.Left) leftKeys else rightKeys
    if (indexAfter == 0) KeyForm.of(own) else KeyForm.broadcast(own)
  }
  private def interval(side: Side) = if (side eq Side.Left) intervalOfLeft else intervalOfRight

  /** What a streamed row looks up: its interval, then its key; or its key. */
  @transient override protected lazy val streamedBoundKeys: Seq[Expression] =
    BindReferences.bindReferences(
      if (isIndexed)
        IntervalRelation.keyExpressions(keys(collected.other), interval(collected.other))
      else HashJoin.rewriteKeyExpr(streamedKeys),
      new AttributeSeq(input(collected.other).output)
    )

  /** The same broadcast as Spark's own hash join on these keys asks for, so that the two can share it. */
  override def requiredChildDistribution: Seq[Distribution] = {
    val mode =
      if (buildKeys.isEmpty) IdentityBroadcastMode
      else HashedRelationBroadcastMode(buildBoundKeys)
    Side.both.map(side =>
      if (side eq collected) BroadcastDistribution(mode) else UnspecifiedDistribution
    )
  }

  override lazy val metrics: Map[String, SQLMetric] =
    JoinMetrics.ofCollected(sparkContext) ++
      (if (indexFrom > 0) JoinMetrics.ofCounted(sparkContext) else Nil)

  @transient private lazy val source: Broadcast[Any] = buildPlan.executeBroadcast[Any]()

  /** With how many of its rows one shares its key, once the small side is broadcast; None where nobody asks. */
  @transient private lazy val shared: Option[Double] = Option.when(indexFrom > 0) {
    BroadcastRelation.rowsPerKey(source.value, rowsBroadcast, indexFrom.toDouble)
  }

  private def rowsBroadcast: Option[BigInt] =
    CollectedJoinExec.rowsOf(buildPlan).filter(_ > 0).map(BigInt(_))

  /** The tasks are told. */
  private lazy val isIndexed: Boolean = shared.forall(_ >= indexFrom)

  /** Sent once a plan; what it holds is made once an executor. */
  @transient override protected lazy val probing: ProbingHashJoin.Probing = {
    if (PlaitConf(conf).logProbes) ProbeLog.watch(this, sparkContext)
    val rowsPerKey = shared.map(_.toLong)
    if (isIndexed) {
      val side = new CollectedSide(
        source,
        keys(collected),
        interval(collected),
        buildPlan.output,
        Math.multiplyExact(indexAfter, rowsBroadcast.fold(CollectedJoinExec.RowsUnknown)(_.toLong))
      )
      val sent = sparkContext.broadcast(side)
      if (indexAfter == 0) new CollectedJoinExec.ByIndex(sent, rowsPerKey, metrics)
      else new CollectedJoinExec.ByIndexLate(sent, keys(collected.other), rowsPerKey, metrics)
    } else new CollectedJoinExec.ByKey(source, rowsPerKey, metrics)
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val joined = interpreted(longMetric(JoinMetrics.OutputRows))
    streamedPlan.execute().mapPartitions(joined)
  }

  override def found(names: BySide[String], counted: String => Long): String =
    s"all matches found by probing ${names(collected)}"

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): CollectedJoinExec = new CollectedJoinExec(
    leftKeys,
    rightKeys,
    joinType,
    collected,
    condition,
    intervalOfLeft,
    intervalOfRight,
    indexFrom,
    indexAfter,
    newLeft,
    newRight,
    pruning
  )
}

object CollectedJoinExec {

  /** Gives a task its relation, and counts what the task did with it at its end. */
  sealed abstract class Counting(rowsPerKey: Option[Long], metrics: Map[String, SQLMetric])
      extends ProbingHashJoin.Probing {
    protected def own: ProbedRelation with CountedLookups

    final override def relation(): ProbedRelation with CountedLookups = {
      val lookups = own
      val collected = metrics(JoinMetrics.CollectedRows)
      TaskContext.get().addTaskCompletionListener[Unit] { _ =>
        lookups.end()
        metrics(JoinMetrics.Probes) += lookups.probes
        metrics(JoinMetrics.Candidates) += lookups.candidates
        JoinMetrics.note(collected, lookups.size.toLong)
        note(rowsPerKey, metrics)
      }
      lookups
    }
  }

  /** The index of the executor. */
  final class ByIndex(
      side: Broadcast[CollectedSide],
      rowsPerKey: Option[Long],
      metrics: Map[String, SQLMetric]
  ) extends Counting(rowsPerKey, metrics) {
    override def relationClass: String = classOf[IntervalRelation].getName
    override protected def own: IntervalRelation = side.value.index
  }

  /** The same, while there is one, and what was broadcast before. */
  final class ByIndexLate(
      side: Broadcast[CollectedSide],
      form: KeyForm,
      rowsPerKey: Option[Long],
      metrics: Map[String, SQLMetric]
  ) extends Counting(rowsPerKey, metrics) {
    override def relationClass: String = classOf[LateIntervalRelation].getName
    override protected def own: LateIntervalRelation = new LateIntervalRelation(side.value, form)
  }

  /** Gives a task what was broadcast, as Spark's own join does. */
  final class ByKey(
      source: Broadcast[Any],
      rowsPerKey: Option[Long],
      metrics: Map[String, SQLMetric]
  ) extends ProbingHashJoin.ByKey(source) {
    override protected def begin(): Unit = note(rowsPerKey, metrics)
  }

  private def rowsOf(broadcast: SparkPlan): Option[Long] = broadcast match {
    case stage: BroadcastQueryStageExec => rowsOf(stage.broadcast)
    case exchange: BroadcastExchangeLike => exchange.metrics.get(RowsBroadcast).map(_.value)
    case ReusedExchangeExec(_, exchange) => rowsOf(exchange)
    case other => other.children.flatMap(rowsOf).headOption
  }

  private val RowsBroadcast = "numOutputRows"

  /** Of a broadcast of another make, which counts no rows: as many as are no trouble to index at once. */
  private val RowsUnknown = 1000L

  private def note(rowsPerKey: Option[Long], metrics: Map[String, SQLMetric]): Unit =
    rowsPerKey.foreach(JoinMetrics.note(metrics(JoinMetrics.RowsPerKey), _))
}
