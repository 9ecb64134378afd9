// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.CollectionAccumulator

import plait.join.Rankless
import plait.spark.side._
import plait.spark.{PlaitConf, RadixJoinChoice}
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

  /** Whether the join goes by key: then the sides are not sorted by their orders. */
  @transient private lazy val sequence: KeySequence =
    if (
      leftKeys.nonEmpty && !PlaitConf(
        conf
      ).traceBuffered && isSortedHere.left && isSortedHere.right &&
      PlaitConf(conf).radixJoin != RadixJoinChoice.Never &&
      comesBy(leftKeys, left) && comesBy(rightKeys, right)
    ) KeySequence.Known
    else KeySequence.Unknown

  /** Is it sorted as Spark sorts by these? NULLs match nothing, wherever they stand. */
  private def comesBy(keys: Seq[Expression], child: SparkPlan): Boolean =
    keys.size <= child.outputOrdering.size && keys.zip(child.outputOrdering).forall {
      case (key, order) =>
        order.direction == Ascending && order.children.exists(key.semanticEquals)
    }

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.create(sparkContext)

  /** The samples of `spark.plait.trace.buffered`, if that was on when the query started. */
  @transient lazy val trace: Option[CollectionAccumulator[TracePoint]] =
    if (!PlaitConf(conf).traceBuffered) None
    else {
      val points = new CollectionAccumulator[TracePoint]
      sparkContext.register(points, "plait.trace.buffered")
      Some(points)
    }

  override def resetMetrics(): Unit = {
    trace.foreach(_.reset())
    super.resetMetrics()
  }

  override protected def joined(): RDD[InternalRow] = {
    if (PlaitConf(conf).logProbes) ProbeLog.watch(this, sparkContext)
    val ranks = FilesStand.decided(BySide(leftRanks, rightRanks), BySide(left, right))
    val sides = BySide(
      SidePlan(leftKeys, ranks.left, left.output, isSortedHere.left),
      SidePlan(rightKeys, ranks.right, right.output, isSortedHere.right)
    )
    val spec = JoinSpec(
      joinType,
      sides,
      rankless,
      condition,
      sequence,
      PlaitConf(conf).radixJoin,
      metrics,
      trace
    )
    val below = if (sequence eq KeySequence.Known) children else Nil
    val task = new SymmetricHashJoinTask(spec, below)
    val rows = asRows
    val inTurn = RowsByFile.inTurn(children)
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      rows(task.join(inTurn(BySide(leftRows, rightRows))))
    }
  }

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(pruning)

  override protected def described(side: Side): String =
    if (sequence eq KeySequence.Known) s"${pruning(side)}; comes by key"
    else if (isSortedHere(side)) s"${pruning(side)}; sorted here"
    else super.described(side)

  override def found(names: BySide[String], counted: String => Long): String = Side.both
    .map(side => s"by probing ${names(side)}: ${counted(JoinMetrics.pairsByProbing(side))}")
    .mkString("matches found ", ", ", "")

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): SymmetricHashJoinExec = copy(left = newLeft, right = newRight)(pruning)
}
