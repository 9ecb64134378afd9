// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric

import plait.BySide
import plait.spark.side._
import plait.spark.translate.{BestMatch, EndOfTime}

/** Each left row and the right row that it picks ([[plait.spark.plan.AsOfJoin]]), of two inputs that are
  * distributed by key and sorted by match value, in one pass:
  *
  * {{{
  *   right, by r.ts                       left, by l.ts
  *        |  offered, up to l.ts               |
  *        +------> candidates of the key <-----+  the best for which the condition is TRUE
  * }}}
  *
  * For `<=` and `<` both sides come sorted the other way round. What it does not promise: any order of its
  * output.
  *
  * @param condition
  *   what is left of ON beyond the keys
  */
case class AsOfJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    best: BestMatch,
    condition: Option[Expression],
    check: Option[Expression],
    left: SparkPlan,
    right: SparkPlan
) extends PlaitJoinExec {
  private def values = BySide(best.left, best.right)
  private def scan = MatchScan(best.direction, best.right.dataType)

  private def conditions =
    PairConditions.of(condition, best.within, check, BySide(left.outputSet, right.outputSet))

  /** The newest row of a key is found in any sequence, where no better one may be refused. */
  private def isUnordered = EndOfTime.isAskedBy(best) && conditions.accepts.isEmpty

  private def ranks(value: Expression) =
    if (isUnordered) MatchScan.unordered(value) else scan.ranks(value)

  override def requiredChildDistribution: Seq[Distribution] =
    if (leftKeys.isEmpty) Seq(AllTuples, AllTuples)
    else Seq(ClusteredDistribution(leftKeys), ClusteredDistribution(rightKeys))

  override def outputPartitioning: Partitioning = dealtByKey

  /** Values that are no numbers are sorted by Spark, which compares them; numbers here, by radix. */
  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    if (scan.isByRank || isUnordered) Seq(Nil, Nil)
    else Seq(Seq(scan.order(best.left)), Seq(scan.order(best.right)))

  private def isSortedHere: BySide[Boolean] = BySide.make { side =>
    scan.isByRank && !isUnordered &&
    !SortOrder.orderingSatisfies(input(side).outputOrdering, Seq(scan.order(values(side))))
  }

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.ofAsOf(sparkContext)

  override protected def doExecute(): RDD[InternalRow] = {
    val sides = BySide(
      SidePlan(leftKeys, ranks(best.left), left.output, isSortedHere.left),
      SidePlan(rightKeys, ranks(best.right), right.output, isSortedHere.right)
    )
    val task = new AsOfJoinTask(joinType, sides, best, conditions, metrics)
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      task.join(BySide(leftRows, rightRows))
    }
  }

  override def pruning: BySide[SidePruning] = {
    val kept =
      if (conditions.accepts.isEmpty) "the best row of a key is kept" else "kept to be picked"
    if (isUnordered) BySide.make(_ => SidePruning.by("in any order", s"newest ${best.right.sql}"))
    else
      BySide(
        SidePruning.by(s"ordered by ${text(scan.order(best.left))}", best.sql),
        SidePruning.by(s"ordered by ${text(scan.order(best.right))}; $kept", best.sql)
      )
  }

  private def text(order: SortOrder) = s"${order.child.sql} ${order.direction.sql}"

  override def found(names: BySide[String]): String = s"one row of ${names.right} at most for each"

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): AsOfJoinExec = copy(left = newLeft, right = newRight)
}
