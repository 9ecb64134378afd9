// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.{TaskEnd, TaskMemory}
import org.apache.spark.util.CollectionAccumulator

import plait.join.{JoinCore, KeyGroup, MemoryRowBuffer, Rankless}
import plait.spark.PlaitConf
import plait.spark.side._
import plait.{BySide, Side}

/** The pruning symmetric hash join of two inputs that are distributed by key, or without a key are in
  * one partition, and sorted by order:
  *
  * {{{
  *   left, sorted by s                       right, sorted by s
  *        |  row, rank, reach [low, high]         |
  *        +------------------> core <-------------+
  *                              | pairs of equal keys within reach
  *                          condition  (Spark's generated predicate)
  * }}}
  *
  * What it does not promise: any order of its output.
  *
  * @param leftOrder
  *   by what the left side must be sorted within a partition; None where nothing prunes it
  * @param leftRanks
  *   rank, low and high end of a left row, three longs (see [[SideReader]]); ends may hang on files being
  *   what they were ([[plait.spark.translate.WhileFilesStand]])
  * @param rankless
  *   what becomes of a side's rows whose order is NULL
  * @param partitionsSplit
  *   how many partitions of a side are read in parts, each part by another task
  * @param pruning
  *   for each side what prunes it; part of EXPLAIN, not of the plan's identity
  */
case class SymmetricHashJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    condition: Option[Expression],
    leftOrder: Option[SortOrder],
    rightOrder: Option[SortOrder],
    leftRanks: Seq[Expression],
    rightRanks: Seq[Expression],
    left: SparkPlan,
    right: SparkPlan,
    rankless: BySide[Rankless] = BySide(Rankless.Dead, Rankless.Dead),
    partitionsSplit: BySide[Int] = BySide(0, 0)
)(val pruning: BySide[SidePruning])
    extends PlaitJoinExec
    with PairsCodegen {

  /** Partitions are read in parts, and the partners of a part as often as there are parts: a key has
    * several tasks.
    */
  def isSplit: Boolean = Side.both.exists(partitionsSplit(_) > 0)

  /** This join over inputs of which some partitions are read in parts. */
  def ofSplit(inputs: BySide[SparkPlan], partitions: BySide[Int]): SymmetricHashJoinExec =
    copy(left = inputs.left, right = inputs.right, partitionsSplit = partitions)(BySide.make {
      side =>
        val n = partitions(side)
        val text = s"$n partition${if (n == 1) "" else "s"} split"
        if (n == 0) pruning(side) else pruning(side).and(text)
    })

  /** In Spark's words. */
  override def nodeName: String = if (isSplit) super.nodeName + "(skew=true)" else super.nodeName

  override def outputPartitioning: Partitioning =
    if (isSplit) UnknownPartitioning(left.outputPartitioning.numPartitions)
    else dealtByKey

  override def requiredChildDistribution: Seq[Distribution] =
    if (leftKeys.isEmpty) Seq(AllTuples, AllTuples)
    else if (isSplit) Seq(UnspecifiedDistribution, UnspecifiedDistribution)
    else Seq(ClusteredDistribution(leftKeys), ClusteredDistribution(rightKeys))

  /** The sides that do not come in their order and are sorted by the join itself, by rank: Spark's own
    * Sort would compare values and hand each row on through a queue.
    */
  def isSortedHere: BySide[Boolean] = BySide(
    comesOtherwise(left, leftOrder),
    comesOtherwise(right, rightOrder)
  )

  private def comesOtherwise(child: SparkPlan, wanted: Option[SortOrder]): Boolean =
    wanted.exists(order => !SortOrder.orderingSatisfies(child.outputOrdering, Seq(order)))

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.create(sparkContext)

  /** The samples of `spark.plait.trace.buffered`, if that was on when the query started. */
  @transient lazy val trace: Option[CollectionAccumulator[TracePoint]] =
    if (!PlaitConf(conf).traceBuffered) None
    else {
      val points = new CollectionAccumulator[TracePoint]
      sparkContext.register(points, "plait.trace.buffered")
      Some(points)
    }

  override protected def joined(): RDD[InternalRow] = {
    if (PlaitConf(conf).logProbes) ProbeLog.watch(this, sparkContext)
    val ranks = FilesStand.decided(BySide(leftRanks, rightRanks), BySide(left, right))
    val sides = BySide(
      SidePlan(leftKeys, ranks.left, left.output, isSortedHere.left),
      SidePlan(rightKeys, ranks.right, right.output, isSortedHere.right)
    )
    val task = new SymmetricHashJoinTask(joinType, sides, rankless, condition, metrics, trace)
    val rows = asRows
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      rows(task.join(BySide(leftRows, rightRows)))
    }
  }

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(pruning)

  override protected def described(side: Side): String =
    if (isSortedHere(side)) s"${pruning(side)}; sorted here" else super.described(side)

  override def found(names: BySide[String]): String = Side.both
    .map(side => s"by probing ${names(side)}: ${metrics(JoinMetrics.pairsByProbing(side)).value}")
    .mkString("matches found ", ", ", "")

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): SymmetricHashJoinExec = copy(left = newLeft, right = newRight)(pruning)
}

/** What one task does: builds readers, buffers and core, and counts when it ends. */
final class SymmetricHashJoinTask(
    joinType: JoinType,
    sides: BySide[SidePlan],
    rankless: BySide[Rankless],
    condition: Option[Expression],
    metrics: Map[String, SQLMetric],
    trace: Option[CollectionAccumulator[TracePoint]]
) extends Serializable {

  def join(inputs: BySide[Iterator[InternalRow]]): JoinedPairs = {
    val context = TaskContext.get()
    val ending = JoinEnding.of(context)
    val index = new TaskIndexMemory(TaskMemory.of(context))
    val keys = HashKeyTable.of(KeyForm.of(sides.left.keys), index)
    val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
    val stores =
      sides.map(s => new PagedRowStore(TaskMemory.of(context), s.output.size, target))
    val buffers =
      BySide.make(side => new MemoryRowBuffer[UnsafeRow](side, keys, stores(side), index))
    val roles = JoinOutput.roles(joinType).get
    val core = new JoinCore[SideReader, KeyGroup, UnsafeRow](keys, buffers, roles, rankless)
    val sorts = sides.map { side =>
      Option.when(side.isSortedHere)(new RankSort(side.ranks.head, side.output, metrics))
    }
    val pairs = new SymmetricHashJoinPairs(
      BySide.make(side => sorts(side).fold(inputs(side))(_.sorted(inputs(side)))),
      sides.map(s => SideReader.create(s.keys, s.ranks, s.output)),
      core,
      roles,
      condition.fold[InternalRow => Boolean](_ => true)(accepts(_, context)),
      trace.fold[BufferTrace](BufferTrace.Off)(new BufferTrace.On(context.partitionId(), _)),
      () => ending.run()
    )
    ending.is { () =>
      count(core, pairs)
      for (side <- Side.both) {
        stores(side).clear()
        sorts(side).foreach(_.release())
      }
      index.clear()
    }
    pairs
  }

  /** A row may meet many that the condition rejects, and nothing else asks meanwhile whether the task was killed. */
  private def accepts(condition: Expression, context: TaskContext): InternalRow => Boolean = {
    val holds =
      CompiledCondition.of(
        condition,
        sides.left.output ++ sides.right.output,
        context.partitionId()
      )
    var asked = 0
    pair => {
      asked += 1
      if ((asked & SymmetricHashJoinTask.Unasked) == 0) TaskEnd.throwIfKilled(context)
      holds(pair)
    }
  }

  private def count(
      core: JoinCore[SideReader, KeyGroup, UnsafeRow],
      pairs: SymmetricHashJoinPairs
  ): Unit = {
    for (side <- Side.both) {
      val counts = core.counts(side)
      metrics(JoinMetrics.rowsIn(side)) += counts.in
      metrics(JoinMetrics.rowsPruned(side)) += counts.pruned
      metrics(JoinMetrics.pairsByProbing(side)) += pairs.pairsByProbing(side)
      JoinMetrics.note(metrics(JoinMetrics.peakBuffered(side)), counts.peak)
    }
    metrics(JoinMetrics.OutputRows) += pairs.rowsOut
    JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), core.peakBuffered)
  }
}

object SymmetricHashJoinTask {

  /** All bits of how often a condition is asked before the task is. */
  final private val Unasked = 1023
}
