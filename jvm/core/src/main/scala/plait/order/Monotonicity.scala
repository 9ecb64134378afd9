// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.Term._
import plait.constraint.{Arithmetic, Elementary, Overflow, Term}
import plait.interval.CalendarOperation.{PlusMonths, TruncateDate, YearOf}
import plait.interval.ClockOperation.{PlusDayTime, ToLocal, TruncateTimestamp}
import plait.interval.Domain.Floating
import plait.interval.FieldOperation._
import plait.interval.StepOperation.{FloorQuotient, Quotient, Step}
import plait.interval._

/** How the value of a term moves from row to row.
  *
  * {{{
  * rows ascend in a and in b      a + b     strictly increasing
  *                                -a        strictly decreasing
  *                                a - b     unknown
  *                                a div 10  non-decreasing
  * rows ascend in ts              date_trunc('HOUR', ts)   non-decreasing
  *                                CAST(ts AS DATE)         non-decreasing, but in zones whose clocks
  *                                                         have gone back over midnight
  * }}}
  *
  * Conventions:
  *   1. Rows for which the term is NULL or fails are left out, as in [[Order]].
  *   2. NaN stands above everything, so what turns floating numbers round (`-x`) is unknown: NaN
  *      would stay last.
  *   3. What may wrap around is unknown.
  */
sealed abstract class Monotonicity(val name: String) {
  import Monotonicity._

  def isNonDecreasing: Boolean =
    this == StrictlyIncreasing || this == NonDecreasing || this == Constant
  def isNonIncreasing: Boolean =
    this == StrictlyDecreasing || this == NonIncreasing || this == Constant

  def reversed: Monotonicity = this match {
    case StrictlyIncreasing => StrictlyDecreasing
    case StrictlyDecreasing => StrictlyIncreasing
    case NonDecreasing => NonIncreasing
    case NonIncreasing => NonDecreasing
    case same => same
  }

  /** What is left where different values may become the same. */
  def weakened: Monotonicity = this match {
    case StrictlyIncreasing => NonDecreasing
    case StrictlyDecreasing => NonIncreasing
    case same => same
  }

  /** Of a sum. */
  def plus(that: Monotonicity): Monotonicity =
    if (this == Constant) that
    else if (that == Constant) this
    else if (isNonDecreasing && that.isNonDecreasing)
      if (this == StrictlyIncreasing || that == StrictlyIncreasing) StrictlyIncreasing
      else NonDecreasing
    else if (isNonIncreasing && that.isNonIncreasing) reversed.plus(that.reversed).reversed
    else Unknown

  override def toString: String = name
}

object Monotonicity {
  case object Constant extends Monotonicity("constant")
  case object StrictlyIncreasing extends Monotonicity("strictly increasing")
  case object NonDecreasing extends Monotonicity("non-decreasing")
  case object StrictlyDecreasing extends Monotonicity("strictly decreasing")
  case object NonIncreasing extends Monotonicity("non-increasing")
  case object Unknown extends Monotonicity("unknown")

  /** How `term` moves, given how some of the terms in it do. */
  def of(term: Term, along: Map[Term, Monotonicity]): Monotonicity =
    along.getOrElse(
      term,
      term match {
        case _: Term.Constant => Constant
        case Known(possible, _, _) => if (isOne(possible)) Constant else Unknown
        case _: Variable | _: Term.Opaque => Unknown
        case Add(l, r) => of(l, along).plus(of(r, along))
        case Subtract(l, r) => of(l, along).plus(of(r, along).reversed)
        case Term.Negate(c) => of(c, along).reversed
        case Scale(c, _) => of(c, along)
        case Call(arithmetic: Arithmetic, arguments) => ofArithmetic(arithmetic, arguments, along)
        case Call(Elementary(function, _), Seq(c)) if rising(function.name) =>
          of(c, along).weakened match {
            case up if up.isNonDecreasing => up
            case _ => Unknown
          }
        case _: Call => Unknown
      }
    )

  /** Functions that rise wherever they are defined, as computed, and give NaN for NaN alone. Java promises it of these
    * (`semi-monotonic`) and not of cbrt, sinh and tanh, which may be an ulp off to either side.
    */
  private val rising =
    Set(
      "exp",
      "expm1",
      "ln",
      "log2",
      "log10",
      "log1p",
      "atan",
      "degrees",
      "radians"
    )

  private def isOne(possible: Possible): Boolean =
    possible.specials.isEmpty && possible.values.single.isDefined

  private def ofArithmetic(
      arithmetic: Arithmetic,
      arguments: IndexedSeq[Term],
      along: Map[Term, Monotonicity]
  ): Monotonicity = {
    val isFloating = arithmetic.from.isInstanceOf[Floating]
    val moves = arguments.map(of(_, along))
    val moved = (arithmetic.operation, arguments) match {
      case (step, Seq(Call(Arithmetic(ToLocal(zone), _, _, _), Seq(t)))) if isDay(step) =>
        if (WallClock.goesBack(zone, TimeUnit.Day)) Unknown else of(t, along).weakened
      case (Plus, Seq(_, _)) if !isFloating => moves(0).plus(moves(1))
      case (Plus, Seq(_, b)) if finite(b, arithmetic.from).isDefined => moves(0)
      case (Plus, Seq(a, _)) if finite(a, arithmetic.from).isDefined => moves(1)
      case (Minus, Seq(_, _)) if !isFloating => moves(0).plus(moves(1).reversed)
      case (Minus, Seq(_, b)) if finite(b, arithmetic.from).isDefined => moves(0)
      case (Times, Seq(a, b)) =>
        finite(b, arithmetic.from)
          .map(scaled(moves(0), _, isFloating))
          .orElse(finite(a, arithmetic.from).map(scaled(moves(1), _, isFloating)))
          .getOrElse(Unknown)
      case (Divide, Seq(_, b)) =>
        finite(b, arithmetic.from).fold[Monotonicity](Unknown)(scaled(moves(0), _, isFloating))
      case (plait.interval.FieldOperation.Negate, _) if !isFloating => moves(0).reversed
      case (Same, _) => if (isExact(arithmetic)) moves(0) else moves(0).weakened
      case (_: Step | _: FloorQuotient, _) => moves(0).weakened
      case (Quotient, Seq(_, b)) =>
        factor(b).fold[Monotonicity](Unknown)(scaled(moves(0), _, isFloating).weakened)
      case (_: TruncateDate | YearOf, _) => moves(0).weakened
      case (TruncateTimestamp(zone, unit), _) =>
        if (WallClock.goesBack(zone, unit)) Unknown else moves(0).weakened
      case (_: PlusMonths, _) => if (moves(1) == Constant) moves(0).weakened else Unknown
      case (PlusDayTime(zone), Seq(_, i)) =>
        // Less than a day is added to the instant itself.
        val isShort = factor(i).exists(_.abs < Rational(TimeUnit.Day.micros))
        if (moves(1) == Constant && (isShort || WallClock.isFixed(zone))) moves(0) else Unknown
      case (ToLocal(zone), _) => if (WallClock.isFixed(zone)) moves(0) else Unknown
      case _ => if (moves.forall(_ == Constant)) Constant else Unknown
    }
    val rounded = if (arithmetic.domain.isInstanceOf[Domain.Whole]) moved else moved.weakened
    if (keepsOrder(arithmetic, arguments)) rounded else if (moved == Constant) Constant else Unknown
  }

  private def isDay(operation: RealOperation): Boolean =
    operation == FloorQuotient(Rational(TimeUnit.Day.micros))

  private def factor(term: Term): Option[Rational] = term match {
    case Term.Constant(k) => Some(Rational(k))
    case Known(possible, _, _) if isOne(possible) => possible.values.single
    case _ => None
  }

  /** Its one number, if that is finite: an infinite one plus the other infinity is NaN, which stands above all, and so
    * is one times 0, or one divided by one.
    */
  private def finite(term: Term, domain: Domain): Option[Rational] = domain match {
    case floating: Floating => factor(term).filter(_.abs < floating.infinity)
    case _ => factor(term)
  }

  private def scaled(moves: Monotonicity, by: Rational, isFloating: Boolean): Monotonicity =
    if (by.signum > 0) moves
    else if (by.signum < 0 && !isFloating) moves.reversed
    else if (by.signum == 0 && !isFloating) Constant
    else Unknown

  private def isExact(arithmetic: Arithmetic): Boolean =
    arithmetic.from.isInstanceOf[Domain.Whole] && arithmetic.domain.isInstanceOf[Domain.Whole]

  /** Convention 3, and NaN where it becomes a number. */
  private def keepsOrder(arithmetic: Arithmetic, arguments: IndexedSeq[Term]): Boolean =
    arithmetic.overflow match {
      case Overflow.Fails | Overflow.GivesNull => true
      case Overflow.Saturates => !arithmetic.from.hasNaN
      case Overflow.Wraps =>
        arithmetic.operation
          .forward(arguments.map(valuesOf))
          .subsetOf(arithmetic.domain.everything)
    }

  private def valuesOf(term: Term): IntervalSet = term match {
    case Term.Constant(k) => IntervalSet.point(Rational(k))
    case Known(possible, _, _) => possible.values
    case other => other.domain.everything
  }
}
