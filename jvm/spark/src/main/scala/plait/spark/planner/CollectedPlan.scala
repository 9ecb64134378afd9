// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper}
import org.apache.spark.sql.execution.SparkPlan

import plait.order.WhyNot
import plait.spark.exec.CollectedJoinExec
import plait.spark.side.SidePruning
import plait.spark.translate.QuickSums
import plait.{BySide, Side}

/** A join with one side collected, if its condition gives the rows intervals to be found by.
  *
  * {{{
  * l.x BETWEEN r.lo AND r.hi, r collected       left   looks up [x, x], by (x >= lo) AND (x <= hi)
  *                                              right  collected with [lo, hi]
  * }}}
  */
object CollectedPlan extends PredicateHelper {

  /** To solve a row's interval takes as long as to compare it with so many rows, or more. */
  private val EnoughToSolve = 2000L

  /** What the condition itself rules out, however many partners the rows have. */
  def whyNever(join: JoinToPlan, collected: Side): Option[WhyNot] =
    intervals(join, collected).left.toOption

  private def intervals(join: JoinToPlan, collected: Side): Either[WhyNot, JoinIntervals] =
    for {
      expression <- join.residual.toRight(WhyNot.NoComparison())
      found <- JoinIntervals.of(new JoinCondition(expression, join.children), collected)
    } yield found

  /** @param partners
    *   how many collected rows a streamed one would be compared with without an index
    * @param pays
    *   if that is not yet known, and Spark can do without one
    */
  def of(
      join: JoinToPlan,
      collected: Side,
      partners: Partners,
      pays: JoinMode.IndexPays,
      children: BySide[SparkPlan]
  ): Either[WhyNot, SparkPlan] =
    for {
      found <- intervals(join, collected)
      _ <- Option
        .when(found.cost == JoinIntervals.Solved)(EnoughToSolve)
        .flatMap(enough => partners.upTo(enough).filter(_ < enough))
        .map(few => WhyNot.FewPartners(collected, few.toLong))
        .toLeft(())
    } yield {
      def at[A](own: A, other: A): BySide[A] =
        BySide.make(side => if (side eq collected) own else other)
      val ends = at(found.fixed, found.seeking)
      val held = SidePruning.collected(found.fixedText, WhyNot.Collected(collected))
      val isSolved = found.cost == JoinIntervals.Solved
      val indexFrom = pays match {
        case _: JoinMode.IfEnoughShare => if (isSolved) EnoughToSolve else JoinMode.EnoughPartners
        case _ => 0L
      }
      val indexAfter = pays match {
        // A row's interval is computed by key too, and one that is solved takes longer than all else.
        case _ if isSolved => 0L
        case JoinMode.IfEnoughStream | JoinMode.IfEnoughShare(JoinMode.IfEnoughStream) =>
          JoinMode.RowsToAnIndexed
        case _ => 0L
      }
      new CollectedJoinExec(
        join.keys.left,
        join.keys.right,
        join.joinType,
        collected,
        join.residual.map(asked(_, found, indexAfter)).map(QuickSums.in),
        ends.left.ends,
        ends.right.ends,
        indexFrom,
        indexAfter,
        children.left,
        children.right,
        join.told(
          at(
            Seq(
              Option.when(indexFrom > 0)(
                s"looked up by key alone if fewer than $indexFrom rows share one"
              ),
              Option.when(indexAfter > 0)(
                s"indexed once an executor has gone through $indexAfter rows by key for each of its rows"
              )
            ).flatten.foldLeft(held)(_.and(_)),
            SidePruning.lookingUp(found.seekingText, found.comparisons)
          )
        )
      )
    }

  /** Whoever goes through the rows of a key asks first what an index would: the rest may take long, or fail for rows that
    * no index gives.
    */
  private def asked(condition: Expression, found: JoinIntervals, indexAfter: Long): Expression =
    if (indexAfter == 0) condition
    else {
      val (first, rest) = splitConjunctivePredicates(condition).partition(found.written)
      (first ++ rest).reduceLeft(And(_, _))
    }
}
