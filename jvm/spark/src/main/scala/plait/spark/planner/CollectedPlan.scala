// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.execution.SparkPlan

import plait.order.{Direction, IntervalChoice, Rank, SolvedReach, WhyNot}
import plait.spark.exec.CollectedJoinExec
import plait.spark.translate.IntervalExpressions
import plait.{BySide, Side}

/** A join with one side collected, if its condition gives the rows intervals to be found by: from
  * formulas where the comparisons give them, else solved for each streamed row.
  *
  * {{{
  * l.x BETWEEN r.lo AND r.hi, r collected       left   looks up [x, x], by (x >= lo) AND (x <= hi)
  *                                              right  collected with [lo, hi]
  * }}}
  */
object CollectedPlan {

  /** Beyond this many candidates, trying them costs more than it is likely to find. */
  private val MostCandidates = 3

  /** The intervals of both sides, and in words. */
  final private case class Intervals(
      collected: IntervalExpressions,
      streamed: IntervalExpressions,
      collectedText: String,
      streamedText: String
  )

  def of(
      join: JoinToPlan,
      collected: Side,
      children: BySide[SparkPlan]
  ): Either[WhyNot, SparkPlan] =
    join.residual.toRight(WhyNot.NoComparison()).flatMap { expression =>
      val condition = new JoinCondition(expression, join.children)
      byFormulas(condition, collected).left
        .flatMap(why => bySolving(condition, collected, why))
        .map { found =>
          def at[A](own: A, other: A) =
            BySide.make(side => if (side eq collected) own else other)
          val intervals = at(found.collected, found.streamed)
          new CollectedJoinExec(
            join.keys.left,
            join.keys.right,
            join.joinType,
            collected,
            join.residual,
            intervals.left.ends,
            intervals.right.ends,
            children.left,
            children.right,
            at(found.collectedText, found.streamedText)
          )
        }
    }

  private def byFormulas(condition: JoinCondition, collected: Side): Either[WhyNot, Intervals] =
    IntervalChoice.best(condition.across.distinct, collected).map { choice =>
      val bounds = choice.high.bounds ++ choice.low.bounds
      val conjuncts = bounds.map(_.from).distinct.map(condition.conjunctOf).mkString(" AND ")
      Intervals(
        IntervalExpressions.collected(choice, condition.translation),
        IntervalExpressions.streamed(choice, condition.translation),
        s"collected with [${choice.low.order}, ${choice.high.order}]",
        s"looks up ${PruningText.interval(choice.high.bounds, choice.low.bounds)}, by $conjuncts"
      )
    }

  private def bySolving(
      condition: JoinCondition,
      collected: Side,
      why: WhyNot
  ): Either[WhyNot, Intervals] = {
    val term = condition.termFor(collected.other)
    val own = term.largestOver(collected.other)(condition.whole.source(_).isDefined).toIndexedSeq
    condition
      .sortable(collected)
      .filter(order => Rank.of(order.domain).isDefined)
      .take(MostCandidates)
      .map(order => new SolvedReach(term, collected.other, order, own))
      .find(isTwoSided)
      .map { reach =>
        Intervals(
          IntervalExpressions.collected(reach, condition.whole),
          IntervalExpressions.streamed(reach, condition.whole),
          s"collected with [${reach.order}, ${reach.order}]",
          s"looks up what is solved for each row, by ${condition.expression}"
        )
      }
      .toRight(why)
  }

  private def isTwoSided(reach: SolvedReach): Boolean =
    !reach.mayMatchNull && reach.ends(Direction.Ascending) && reach.ends(Direction.Descending)
}
