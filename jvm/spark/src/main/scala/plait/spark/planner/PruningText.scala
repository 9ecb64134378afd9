// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import plait.Side
import plait.constraint.{Affine, Compare, Formula}
import plait.interval.{Bound, Domain}
import plait.order.{CaseReach, OrderChoice, ReachBound, SolvedChoice, WhyNot}
import plait.spark.side.SidePruning

/** The pruning of a side in words, for EXPLAIN:
  *
  * {{{
  * ordered by s#1L ASC, reaches s#5L in (s#1L - 7, s#1L - 4), pruned by ((s#1L + 3) < (s#5L + 10))
  * ordered by t#1 ASC, reaches t#5 in (t#1, +inf), not pruned: no comparison ends ... [ENDLESS_REACH]
  * }}}
  *
  * @param conjunct
  *   how the query wrote a comparison
  */
final class PruningText(choice: OrderChoice, conjunct: Compare => String) {
  def of(side: Side): SidePruning = {
    val reach = choice.reaches(side)
    val within = PruningText.interval(reach.lower, reach.upper)
    val ordered =
      s"ordered by ${choice.orders(side)}, reaches ${choice.orders(side.other).term} in $within"
    choice.whyNotPruned(side) match {
      case None =>
        SidePruning.by(ordered, PruningText.conjuncts(choice.prunedBy(side), conjunct))
      case Some(why) => SidePruning.not(ordered, why)
    }
  }
}

object PruningText {

  /** Where bounds come from, as the query wrote it. */
  def conjuncts(bounds: Seq[ReachBound], conjunct: Compare => String): String =
    bounds.map(_.from).distinct.map(conjunct).mkString(" AND ")

  /** What lies between these bounds, as formulas. */
  def interval(lower: Seq[ReachBound], upper: Seq[ReachBound]): String = {
    val from = end(lower, "greatest").fold("(-inf") { case (open, at) => open.fold("(", "[") + at }
    val to = end(upper, "least").fold("+inf)") { case (open, at) => at + open.fold(")", "]") }
    s"$from, $to"
  }

  /** Where the solver finds the reach, the whole condition is what prunes. */
  def solved(side: Side, choice: SolvedChoice, condition: String)(
      whyNot: Option[WhyNot] = choice.whyNotPruned(side)
  ): SidePruning = whole(side, choice, condition, "as solved for each row", whyNot)

  /** And where its cases give it. */
  def byCases(
      side: Side,
      choice: SolvedChoice,
      condition: String,
      reach: CaseReach
  )(whyNot: Option[WhyNot]): SidePruning =
    whole(side, choice, condition, s"in ${cases(reach)}", whyNot)

  def cases(reach: CaseReach): String =
    reach.cases.map(of => interval(of.lower, of.upper)).distinct.mkString(" or ")

  private def whole(
      side: Side,
      choice: SolvedChoice,
      condition: String,
      within: String,
      whyNot: Option[WhyNot]
  ): SidePruning = {
    val reached = choice.orders(side.other).term
    val nulls = if (choice.mayMatchNull(side)) " NULLS FIRST" else ""
    val ordered = s"ordered by ${choice.orders(side)}$nulls, reaches $reached $within"
    whyNot match {
      case None => SidePruning.by(ordered, condition)
      case Some(why) => SidePruning.not(ordered, why)
    }
  }

  /** Several formulas are shown as closed, unless all are open. */
  private def end(
      bounds: Seq[ReachBound],
      several: String
  ): Option[(Ending, String)] = {
    val texts = bounds.map(b => text(b.formula)).distinct
    val ending =
      if (bounds.forall(_.at.isInstanceOf[Bound.Open[_]])) Open else Closed
    texts match {
      case Nil => None
      case Seq(one) => Some((ending, one))
      case many => Some((ending, many.mkString(s"$several(", ", ", ")")))
    }
  }

  private def text(formula: Formula): String = formula match {
    case affine: Affine => text(affine)
    case other => other.toString
  }

  private def text(formula: Affine): String = {
    val timed = formula.coefficients.keys.exists(v => isMicros(v.domain))
    val variables = Affine(0, formula.coefficients)
    if (!timed || formula.constant == 0) formula.toString
    else {
      val sign = if (formula.constant.signum < 0) "-" else "+"
      val sum = s"$variables $sign ${duration(formula.constant.abs)}"
      if (formula.divisor == 1) sum else s"($sum) / ${formula.divisor}"
    }
  }

  sealed trait Ending {
    def fold(open: String, closed: String): String = if (this == Open) open else closed
  }
  case object Open extends Ending
  case object Closed extends Ending

  private def isMicros(domain: Domain): Boolean =
    Seq(Domain.Timestamp, Domain.TimestampNtz, Domain.DayTimeInterval).contains(domain)

  private val units = Seq(
    "DAY" -> BigInt(86400000000L),
    "HOUR" -> BigInt(3600000000L),
    "MINUTE" -> BigInt(60000000L),
    "SECOND" -> BigInt(1000000L)
  )

  /** Microseconds in the largest unit that divides them: `INTERVAL 3 HOUR`. */
  def duration(micros: BigInt): String = {
    val (unit, size) =
      units.find { case (_, size) => micros % size == 0 }.getOrElse("MICROSECOND" -> BigInt(1))
    s"INTERVAL ${micros / size} $unit"
  }

}
