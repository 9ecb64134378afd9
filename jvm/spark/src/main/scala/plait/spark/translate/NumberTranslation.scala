// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types._

import plait.constraint.Term.Call
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.FieldOperation.{Divide => Divided, _}
import plait.interval.StepOperation.Nearest
import plait.interval.{Domain, Rational, RealOperation, StepOperation}
import plait.spark.translate.OrderedType.{Fractions, Integers}

/** Arithmetic of numbers and intervals.
  *
  * {{{
  * l.a + r.b       bigint, ANSI      Call(+ of long, Fails)
  * l.a + r.b       bigint, legacy    Call(+ of long, Wraps)
  * l.a / r.b       double            Call(/ of double)       NULL or an error for 0
  * floor(l.x)      double            Call(floor, Saturates)
  * }}}
  */
final private[translate] class NumberTranslation(of: Spark => Term) {

  def translate: PartialFunction[Spark, Term] = {
    case e @ Add(l, r, context) if isKnown(e) => binary(e, Plus, l, r, context.evalMode)
    case e @ Subtract(l, r, context) if isKnown(e) => binary(e, Minus, l, r, context.evalMode)
    case e @ Multiply(l, r, context) if isKnown(e) => binary(e, Times, l, r, context.evalMode)
    case e @ Divide(l, r, context) if isKnown(e) => binary(e, Divided, l, r, context.evalMode)
    case e @ IntegralDivide(l, r, context) if isKnown(l) =>
      binary(e, StepOperation.Quotient, l, r, context.evalMode)
    case e @ Remainder(l, r, context) if isKnown(e) =>
      binary(e, StepOperation.Remainder, l, r, context.evalMode)
    case e @ Pmod(l, r, context) if isKnown(e) =>
      binary(e, StepOperation.PositiveModulus, l, r, context.evalMode)
    case e @ UnaryMinus(c, failOnError) if isKnown(e) => unary(e, Negate, c, mode(failOnError))
    case e @ Abs(c, failOnError) if isKnown(e) => unary(e, Absolute, c, mode(failOnError))
    case UnaryPositive(c) => of(c)
    case e @ Signum(c) => unary(e, Sign, c, EvalMode.ANSI)
    case e @ Floor(c, _) if isKnown(e) =>
      step(e, c, StepOperation.Floor(Rational.One))
    case e @ Ceil(c, _) if isKnown(e) =>
      step(e, c, StepOperation.Ceiling(Rational.One))
    case e @ Round(c, Literal(scale: Int, _), isAnsi) if isRounded(c, scale) =>
      rounded(e, c, scale, mode(isAnsi))
    case e @ BRound(c, Literal(scale: Int, _), isAnsi) if isRounded(c, scale) =>
      rounded(e, c, scale, mode(isAnsi))
  }

  private def domain(e: Spark): Domain = OrderedType.domain(e.dataType).get

  private def isKnown(e: Spark): Boolean = e.dataType match {
    case _: NumericType | _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => false
  }

  private def mode(failOnError: Boolean): EvalMode.Value =
    if (failOnError) EvalMode.ANSI else EvalMode.LEGACY

  private def overflow(e: Spark, mode: EvalMode.Value): Overflow = (e.dataType, mode) match {
    case (_: DayTimeIntervalType | _: YearMonthIntervalType, EvalMode.TRY) => Overflow.GivesNull
    case (_: DayTimeIntervalType | _: YearMonthIntervalType, _) => Overflow.Fails
    case (_, EvalMode.ANSI) => Overflow.Fails
    case (_, EvalMode.TRY) => Overflow.GivesNull
    case (Integers(), _) => Overflow.Wraps
    case _ => Overflow.GivesNull
  }

  private def binary(
      e: Spark,
      operation: RealOperation,
      l: Spark,
      r: Spark,
      mode: EvalMode.Value
  ): Term = Call(Arithmetic(operation, domain(l), domain(e), overflow(e, mode)), of(l), of(r))

  private def unary(e: Spark, operation: RealOperation, c: Spark, mode: EvalMode.Value): Term =
    Call(Arithmetic(operation, domain(c), domain(e), overflow(e, mode)), of(c))

  /** Of doubles the result is a long, as Java casts it: 0 for NaN, in ANSI mode too, where what is too
    * large is an error.
    */
  private def step(
      e: Spark,
      c: Spark,
      operation: RealOperation
  ): Term = c.dataType match {
    case LongType => of(c)
    case Fractions() =>
      val overflow = if (c.dataType == DoubleType) Overflow.Saturates else Overflow.GivesNull
      Call(Arithmetic(operation, domain(c), domain(e), overflow), of(c))
    case _ => of(c)
  }

  /** Doubles are rounded by their shortest decimal text, which is not the number that they are; to
    * a whole number that makes no difference.
    */
  private def isRounded(c: Spark, scale: Int): Boolean = c.dataType match {
    case Integers() | (_: DecimalType) => math.abs(scale) <= DecimalType.MAX_PRECISION
    case DoubleType | FloatType => scale == 0
    case _ => false
  }

  private def rounded(e: Spark, c: Spark, scale: Int, mode: EvalMode.Value): Term =
    c.dataType match {
      case Integers() if scale >= 0 => of(c)
      case d: DecimalType if scale >= d.scale => cast(e, c, mode)
      case _ => unary(e, Nearest(Rational.scaled(1, scale)), c, mode)
    }

  private def cast(e: Spark, c: Spark, mode: EvalMode.Value): Term =
    unary(e, Same, c, mode)
}
