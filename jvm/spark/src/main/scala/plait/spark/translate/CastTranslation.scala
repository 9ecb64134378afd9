// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types._

import plait.constraint.Term.{Call, Constant}
import plait.constraint.{Arithmetic, Compared, Comparison, Finite, Overflow, Term}
import plait.interval.Detour.{ByWayOf, ToLong}
import plait.interval.FieldOperation.Same
import plait.interval.StepOperation.{Middle, Nearest, OfShortestText, ToZero}
import plait.interval.{Domain, Rational, RealOperation}
import plait.spark.translate.OrderedType.{Fractions, Integers}

/** Casts from numbers to numbers, and those that are always NULL. Casts between times are in
  * [[TimeTranslation]], those between times and numbers in [[InstantCasts]], those of intervals in
  * [[IntervalCasts]].
  *
  * {{{
  * int to bigint                                     the same
  * bigint to int                                     the same; ANSI fails, legacy wraps
  * bigint to double, decimal to float                the nearest
  * double to int                                     to zero; legacy saturates
  * double to tinyint, legacy                         to int, of that the low bits
  * double to decimal(9, 2)                           its shortest text, rounded; NULL for NaN, infinities
  * date to int, legacy                               NULL
  * }}}
  *
  * Conventions:
  *   1. The mode is the cast's own: ANSI fails where TRY gives NULL, and legacy does as Java does.
  *   2. ANSI and TRY take `2^63` as a double for the greatest bigint, as Spark's check does.
  *   3. ANSI and TRY make a decimal a tinyint, smallint or int by way of a double, unless Spark keeps it
  *      as a long: 1.99999999999999999 may become 2.
  *   4. Not known: casts to strings, of which only comparisons are, and of them, which are parsed. On
  *      one side alone Spark computes those.
  */
final private[translate] class CastTranslation(of: Spark => Term) {
  import CastTranslation._

  def translate: PartialFunction[Spark, Term] = own
    .orElse(new InstantCasts(of, decimal).translate)
    .orElse(new IntervalCasts(of).translate)

  private def own: PartialFunction[Spark, Term] = {
    case Cast(c, to, _, _) if c.dataType == to => of(c)
    case Cast(c, to, _, _) if isAlwaysNull(c.dataType, to) => of(Literal(null, to))
    case Cast(c, to: DecimalType, _, mode) if isFloating(c.dataType) =>
      val floating = if (c.dataType == FloatType) Domain.Float else Domain.Double
      decimal(Call(Finite(floating), of(c)), floating, to, mode)
    case Cast(c, to @ (ByteType | ShortType), _, EvalMode.LEGACY) if isFloating(c.dataType) =>
      val int = call(truncated, c, IntegerType, Overflow.Saturates)
      Call(Arithmetic(Same, Domain.Int, domain(to), Overflow.Wraps), int)
    case Cast(c, to, _, mode) if isNumber(c.dataType, to) => number(c, to, mode)
  }

  private def isFloating(from: DataType): Boolean = from == DoubleType || from == FloatType

  private def isNumber(from: DataType, to: DataType): Boolean = (from, to) match {
    case (BooleanType, _: NumericType) | (_: NumericType, BooleanType) => true
    case (_: NumericType, _: NumericType) => true
    case _ => false
  }

  private def isAlwaysNull(from: DataType, to: DataType): Boolean = (from, to) match {
    case (DateType, _: NumericType | BooleanType) => true
    case _ => false
  }

  private def number(c: Spark, to: DataType, mode: EvalMode.Value): Term =
    (c.dataType, to) match {
      case (from @ Integers(), Integers()) if from.defaultSize <= to.defaultSize => of(c)
      case (_: NumericType, BooleanType) =>
        Call(Compared(Comparison.NotEqual), of(c), Constant(0))
      case (from @ Fractions(), Integers()) =>
        call(truncation(from, to, mode), c, to, overflow(from, to, mode))
      case (from, _) => call(Same, c, to, overflow(from, to, mode))
    }

  /** Of a finite floating number; conventions as those of a cast. */
  private def decimal(
      finite: Term,
      floating: Domain.Floating,
      to: DecimalType,
      mode: EvalMode.Value
  ): Term = {
    // Whatever the type, the text is that of a double.
    val nearest = Nearest(Rational.scaled(1, to.scale), Middle.AwayFromZero)
    val rounded = OfShortestText(nearest, Domain.Double)
    Call(Arithmetic(rounded, floating, domain(to), overflow(floating, to, mode)), finite)
  }

  private def overflow(from: Domain.Floating, to: DecimalType, mode: EvalMode.Value): Overflow =
    overflow(if (from eq Domain.Float) FloatType else DoubleType, to, mode)

  private def truncation(from: DataType, to: DataType, mode: EvalMode.Value): RealOperation =
    (from, to) match {
      case _ if mode == EvalMode.LEGACY => truncated
      case (decimal: DecimalType, ByteType | ShortType | IntegerType)
          if decimal.precision > DoubleDigits =>
        ByWayOf(Domain.Double, truncated)
      case (DoubleType | FloatType, LongType) => ToLong
      case _ => truncated
    }

  private def call(operation: RealOperation, c: Spark, to: DataType, overflow: Overflow): Term =
    Call(Arithmetic(operation, domain(c.dataType), domain(to), overflow), of(c))

  private def overflow(from: DataType, to: DataType, mode: EvalMode.Value): Overflow =
    (from, to, mode) match {
      case (_, DoubleType | FloatType, _) => Overflow.Fails
      case (_, _, EvalMode.ANSI) => Overflow.Fails
      case (_, _, EvalMode.TRY) => Overflow.GivesNull
      case (DoubleType | FloatType, Integers(), _) => Overflow.Saturates
      case (_, Integers(), _) => Overflow.Wraps
      case _ => Overflow.GivesNull
    }
}

private[translate] object CastTranslation {

  /** Doubles tell all decimals of so many digits apart. */
  private val DoubleDigits = 15

  private[translate] val truncated = ToZero(Rational.One)

  private[translate] def domain(dataType: DataType): Domain = OrderedType.domain(dataType).get

  /** What a cast that fails in legacy mode too does with what it cannot hold. */
  private[translate] def failing(mode: EvalMode.Value): Overflow =
    if (mode == EvalMode.TRY) Overflow.GivesNull else Overflow.Fails
}
