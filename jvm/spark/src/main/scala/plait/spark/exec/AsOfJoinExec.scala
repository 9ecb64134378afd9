// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{And, Expression, IsNotNull, SortOrder}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric

import plait.spark.side._
import plait.spark.translate.{BestMatch, EndOfTime}
import plait.{BySide, Side}

/** Each left row and the right row that it picks ([[plait.spark.plan.AsOfJoin]]), of two inputs that are
  * distributed by key and sorted by match value, in one pass:
  *
  * {{{
  *   right, by r.ts                       left, by l.ts
  *        |  offered, up to l.ts               |
  *        +------> candidates of the key <-----+  the best for which the condition is TRUE
  * }}}
  *
  * For `<=` and `<` both sides come sorted the other way round. Without keys both sides come cut into
  * ranges of the match value, a partition each, and each task knows what it must of the others
  * ([[MatchRanges]]); or all rows come to one task. What it does not promise: any order of its output.
  *
  * @param condition
  *   what is left of ON beyond the keys
  * @param spread
  *   how its rows are spread over tasks
  */
case class AsOfJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    best: BestMatch,
    condition: Option[Expression],
    check: Option[Expression],
    spread: AsOfSpread,
    left: SparkPlan,
    right: SparkPlan
) extends PlaitJoinExec
    with PairsCodegen {
  private def values = BySide(best.left, best.right)
  private def scan = MatchScan(best.direction, best.right.dataType)

  private def conditions =
    PairConditions.of(condition, best.within, check, BySide(left.outputSet, right.outputSet))

  /** The newest row of a key is found in any sequence, where no better one may be refused. */
  private def isUnordered =
    EndOfTime.isAskedBy(best) && conditions.accepts.isEmpty && !isInRanges

  private def isInRanges = spread match {
    case _: AsOfSpread.InRanges => true
    case _ => false
  }

  private def ranks(value: Expression) =
    if (isUnordered) MatchScan.unordered(value) else scan.ranks(value)

  override def requiredChildDistribution: Seq[Distribution] = spread match {
    case AsOfSpread.ByKey =>
      Seq(ClusteredDistribution(leftKeys), ClusteredDistribution(rightKeys))
    case _: AsOfSpread.InRanges => Seq(UnspecifiedDistribution, UnspecifiedDistribution)
    case _: AsOfSpread.InOneTask => Seq(AllTuples, AllTuples)
  }

  override def outputPartitioning: Partitioning = spread match {
    case AsOfSpread.InRanges(ranges) => UnknownPartitioning(ranges)
    case _ => dealtByKey
  }

  /** Values that are no numbers are sorted by Spark, which compares them; numbers here, by radix. */
  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    if (scan.isByRank || isUnordered) Seq(Nil, Nil)
    else Seq(Seq(scan.order(best.left)), Seq(scan.order(best.right)))

  private def isSortedHere: BySide[Boolean] = BySide.make { side =>
    scan.isByRank && !isUnordered &&
    !SortOrder.orderingSatisfies(input(side).outputOrdering, Seq(scan.order(values(side))))
  }

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.ofAsOf(sparkContext)

  override protected def joined(): RDD[InternalRow] = {
    val sides = BySide(
      SidePlan(leftKeys, ranks(best.left), left.output, isSortedHere.left),
      SidePlan(rightKeys, ranks(best.right), right.output, isSortedHere.right)
    )
    val task = new AsOfJoinTask(joinType, sides, best, conditions, metrics)
    val inputs = BySide(left.execute(), right.execute())
    spread match {
      case AsOfSpread.InRanges(ranges) => inRanges(task, inputs.map(ofRanges(_, ranges)))
      case _ =>
        val rows = asRows
        val inTurn = RowsByFile.inTurn(children)
        inputs.left.zipPartitions(inputs.right) { (leftRows, rightRows) =>
          val both = inTurn(BySide(leftRows, rightRows))
          rows(task.join(both, (_, own) => new HomedRows(own, null, null)))
        }
    }
  }

  /** A side that is known to be empty comes without its shuffle, and without a partition. */
  private def ofRanges(rows: RDD[InternalRow], ranges: Int): RDD[InternalRow] =
    if (rows.getNumPartitions > 0) rows
    else sparkContext.parallelize(Seq.empty[InternalRow], ranges)

  private def inRanges(task: AsOfJoinTask, inputs: BySide[RDD[InternalRow]]): RDD[InternalRow] = {
    val outermost = new MatchRanges(
      best,
      BySide(left.output, right.output),
      BySide(
        (IsNotNull(best.left) +: conditions.ofLeft.toSeq).reduce(And(_, _)),
        (IsNotNull(best.right) +: conditions.ofRight.toSeq).reduce(And(_, _))
      )
    )
    val isAloud = joinType == RightOuter || joinType == FullOuter
    val known = outermost.neighbours(inputs, if (isAloud) Side.both else Seq(Side.Right))
    val around = new MatchRanges.Around(sparkContext.broadcast(known))
    val rows = asRows
    val numbered = inputs.left.mapPartitionsWithIndex((range, rows) => Iterator((range, rows)))
    numbered.zipPartitions(inputs.right) { (leftRows, rightRows) =>
      val (range, own) = leftRows.next()
      rows(task.join(BySide(own, rightRows), around(_, range, _)))
    }
  }

  override def pruning: BySide[SidePruning] = {
    val kept =
      if (conditions.accepts.isEmpty) "the best row of a key is kept" else "kept to be picked"
    val sides =
      if (isUnordered) BySide.make(_ => SidePruning.by("in any order", s"newest ${best.right.sql}"))
      else
        BySide(
          SidePruning.by(ordered(Side.Left), best.sql),
          SidePruning.by(s"${ordered(Side.Right)}; $kept", best.sql)
        )
    spread.text.fold(sides)(text => sides.map(_.and(text)))
  }

  private def ordered(side: Side): String = {
    val reach = if (EndOfTime.isAskedBy(best)) "" else s", reaches ${best.reaches(side)}"
    s"ordered by ${text(scan.order(values(side)))}$reach"
  }

  private def text(order: SortOrder) = s"${order.child.sql} ${order.direction.sql}"

  override def ofPairs: Option[Expression] =
    (best.compared ++ best.within ++ condition).reduceOption(And(_, _))

  override def found(names: BySide[String], counted: String => Long): String =
    s"one row of ${names.right} at most for each"

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): AsOfJoinExec = copy(left = newLeft, right = newRight)
}
