// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types._

import plait.constraint.Term.Call
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.FieldOperation.{Divide => Divided, _}
import plait.interval.StepOperation.{Middle, Nearest, OfShortestText, Step}
import plait.interval.{Domain, Power, Rational, RealOperation, StepOperation}
import plait.spark.translate.OrderedType.{Fractions, Integers}

/** Arithmetic of numbers and intervals.
  *
  * {{{
  * l.a + r.b       bigint, ANSI      Call(+ of long, Fails)
  * l.a + r.b       bigint, legacy    Call(+ of long, Wraps)
  * l.x * l.x       double            Call(power 2 of double)
  * l.a / r.b       double            Call(/ of double)       NULL or an error for 0
  * floor(l.x)      double            Call(floor, Saturates)
  * }}}
  */
final private[translate] class NumberTranslation(of: Spark => Term) {
  import NumberTranslation._

  def translate: PartialFunction[Spark, Term] = {
    case e @ Add(l, r, context) if isKnown(e) => binary(e, Plus, l, r, context.evalMode)
    case e @ Subtract(l, r, context) if isKnown(e) => binary(e, Minus, l, r, context.evalMode)
    case e @ Multiply(l, r, context)
        if isKnown(e) && l.deterministic && SpelledById.areSame(l, r) =>
      unary(e, Power.Whole(2), l, context.evalMode)
    case e @ Multiply(l, r, context) if isKnown(e) => binary(e, Times, l, r, context.evalMode)
    case e @ Divide(l, r, context) if isKnown(e) => binary(e, Divided, l, r, context.evalMode)
    case e @ IntegralDivide(l, r, _) if isDecimal(l, r) =>
      // Whatever the mode, the low bits of a quotient that no long can hold.
      Call(Arithmetic(StepOperation.Quotient, domain(l), domain(e), Overflow.Wraps), of(l), of(r))
    case IntegralDivide(l, r, _) if l.dataType.isInstanceOf[YearMonthIntervalType] =>
      // Months are ints, whose least one divided by -1 is itself, whatever the mode; then it is a long.
      val ints = Arithmetic(StepOperation.Quotient, domain(l), Domain.Int, Overflow.Wraps)
      Call(Arithmetic(Same, Domain.Int, Domain.Long, Overflow.Fails), Call(ints, of(l), of(r)))
    case e @ IntegralDivide(l, r, context) if isKnown(l) && !l.dataType.isInstanceOf[DecimalType] =>
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
    case e @ Round(c, Scale(scale), isAnsi) if isRounded(c) =>
      rounded(e, c, scale, Nearest(_, Middle.AwayFromZero), mode(isAnsi))
    case e @ BRound(c, Scale(scale), isAnsi) if isRounded(c) =>
      rounded(e, c, scale, Nearest(_, Middle.ToEven), mode(isAnsi))
    case e @ RoundFloor(c, Scale(scale)) if isRounded(c) =>
      rounded(e, c, scale, StepOperation.Floor(_), EvalMode.LEGACY)
    case e @ RoundCeil(c, Scale(scale)) if isRounded(c) =>
      rounded(e, c, scale, StepOperation.Ceiling(_), EvalMode.LEGACY)
  }

  /** Of these decimals the quotient has a type that holds it. */
  private def isDecimal(dividend: Spark, divisor: Spark): Boolean =
    (dividend.dataType, divisor.dataType) match {
      case (a: DecimalType, b: DecimalType) =>
        a.precision - a.scale + b.scale <= DecimalType.MAX_PRECISION
      case _ => false
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

  private def isRounded(c: Spark): Boolean = c.dataType.isInstanceOf[NumericType]

  private def rounded(
      e: Spark,
      c: Spark,
      scale: Int,
      to: Rational => Step,
      mode: EvalMode.Value
  ): Term = {
    val step = to(Rational.scaled(1, scale))
    (c.dataType, domain(c)) match {
      case (Integers(), _) if scale >= 0 => of(c)
      case (d: DecimalType, _) if scale >= d.scale => cast(e, c, mode)
      // Of a number with a half the text is that number.
      case (_, floating: Domain.Floating) if scale != 0 =>
        unary(e, OfShortestText(step, floating), c, mode)
      case _ => unary(e, step, c, mode)
    }
  }

  private def cast(e: Spark, c: Spark, mode: EvalMode.Value): Term =
    unary(e, Same, c, mode)
}

private object NumberTranslation {

  /** How many digits after the point are kept, in a literal. */
  private object Scale {
    def unapply(e: Spark): Option[Int] = e match {
      case Literal(scale: Int, _) if math.abs(scale) <= DecimalType.MAX_PRECISION => Some(scale)
      case _ => None
    }
  }
}
