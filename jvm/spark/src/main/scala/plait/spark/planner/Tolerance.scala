// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import plait.spark.plan.{ClauseConstant, ClauseError}
import plait.spark.translate.{MatchDirection, OrderedType}

/** Whether two match values are no farther apart than a TOLERANCE, as a condition on both:
  *
  * {{{
  * l >= r TOLERANCE 5                    r >= l - 5          (no lower end where l - 5 overflows)
  * NEAREST (l, r) TOLERANCE 5            r >= l - 5 AND r <= l + 5
  * t >= u TOLERANCE INTERVAL 1 DAY       unix_micros(u) >= unix_micros(t) - 86400000000
  * }}}
  *
  * Conventions:
  *   1. Times are instants: a day is 24 hours, also where clocks change. A year-month interval has no
  *      length in instants and is refused for them, as is a number.
  *   2. Dates are days apart: an INTERVAL of whole days, or an integer.
  *   3. Equal values are within every tolerance: infinities and NaN too. Within an infinite one are all but NaN and
  *      a number.
  *   4. A tolerance is a constant, not NULL and not negative.
  *   5. A variable of the session stays in the condition, where it changes nothing: by it Spark knows that a view
  *      needs the variable.
  */
object Tolerance {
  import MatchDirection._

  def apply(
      tolerance: Expression,
      direction: MatchDirection,
      left: Expression,
      right: Expression
  ): Expression = {
    val amount = constant(tolerance)
    val (l, r, distance) = comparable(tolerance, amount, left, right)
    def notBelow = orTrue(
      GreaterThanOrEqual(r, Subtract(l, distance, NumericEvalContext(EvalMode.TRY)))
    )
    def notAbove = orTrue(LessThanOrEqual(r, Add(l, distance, NumericEvalContext(EvalMode.TRY))))
    val within = direction match {
      // Infinity less infinity is no number.
      case _ if isInfinite(amount) => EqualTo(IsNaN(l), IsNaN(r))
      case AtOrBefore | Before => notBelow
      case AtOrAfter | After => notAbove
      case Nearest => And(notBelow, notAbove)
    }
    if (tolerance.exists(_.isInstanceOf[VariableReference])) And(within, IsNotNull(tolerance))
    else within
  }

  private def isInfinite(amount: Literal): Boolean = amount.value match {
    case number: Double => number.isInfinite
    case number: Float => number.isInfinite
    case _ => false
  }

  /** The amount, for people. */
  def text(tolerance: Expression): String = {
    val amount = constant(tolerance)
    (amount.value, amount.dataType) match {
      case (micros: Long, _: DayTimeIntervalType) => PruningText.duration(micros)
      case _ => amount.sql
    }
  }

  private def orTrue(condition: Expression) =
    Coalesce(Seq(condition, Literal.TrueLiteral))

  private def constant(tolerance: Expression): Literal = {
    val value = Literal(ClauseConstant.of("TOLERANCE", tolerance), tolerance.dataType)
    val isWrong = value.value match {
      case null => true
      case interval: CalendarInterval =>
        interval.months < 0 || interval.days < 0 || interval.microseconds < 0
      case decimal: Decimal => decimal.toBigDecimal.signum < 0
      case number: Number => !(number.doubleValue >= 0)
      case _ => true
    }
    val quoted = tolerance.dataType match {
      case _: StringType => ", a text: write INTERVAL 2 SECONDS, or 2 of numbers, without quotes"
      case _ => ""
    }
    if (isWrong)
      throw ClauseError(
        s"TOLERANCE must be a number or an interval that is not negative, but is ${tolerance.sql}$quoted",
        tolerance.origin
      )
    value
  }

  /** Both match values and the amount, as values of one type that can be added up. */
  private def comparable(
      written: Expression,
      amount: Literal,
      left: Expression,
      right: Expression
  ): (Expression, Expression, Expression) = {
    def both(f: Expression => Expression, distance: Expression) = (f(left), f(right), distance)
    (left.dataType, amount.dataType) match {
      case (TimestampType | TimestampNTZType, _: DayTimeIntervalType) =>
        both(micros, Literal(amount.value, LongType))
      case (DateType, _: DayTimeIntervalType) if wholeDays(amount).isDefined =>
        both(days, Literal(wholeDays(amount).get))
      case (DateType, OrderedType.Integers()) =>
        both(days, Literal(daysOf(amount, written)))
      case (OrderedType.Integers(), OrderedType.Integers()) =>
        both(Cast(_, LongType), Cast(amount, LongType))
      case (_: DayTimeIntervalType, _: DayTimeIntervalType) =>
        val wide = DayTimeIntervalType()
        both(Cast(_, wide), Cast(amount, wide))
      case (_: YearMonthIntervalType, _: YearMonthIntervalType) =>
        val wide = YearMonthIntervalType()
        both(Cast(_, wide), Cast(amount, wide))
      case (FloatType | DoubleType, _: NumericType) =>
        both(Cast(_, DoubleType), Cast(amount, DoubleType))
      case (a: NumericType, b: NumericType) if b != FloatType && b != DoubleType =>
        val exact = exactly(a, b, written)
        // A sum has one digit more.
        val sum = DecimalType(exact.precision + 1, exact.scale)
        (Cast(left, exact), Cast(right, sum), Cast(amount, exact))
      case (_: NumericType, _: NumericType) =>
        both(Cast(_, DoubleType), Cast(amount, DoubleType))
      case (of, by) =>
        throw ClauseError(
          s"TOLERANCE ${written.sql} is of type ${by.sql}, which says nothing of how far values of type " +
            s"${of.sql} are apart: numbers take a number, dates whole days, timestamps and intervals an " +
            s"interval of days to seconds, year-month intervals one of years and months${instead(of, by, written)}",
          written.origin
        )
    }
  }

  /** What may have been meant. */
  private def instead(of: DataType, by: DataType, written: Expression): String = (of, by) match {
    case (TimestampType | TimestampNTZType, OrderedType.Integers()) =>
      s". Write INTERVAL ${written.sql} SECONDS"
    case (TimestampType | TimestampNTZType | _: DayTimeIntervalType, _: NumericType) =>
      ". Write an interval, as INTERVAL 2 SECONDS"
    case (_: StringType, _) => ". Cast texts that are times, as CAST(r.ts AS TIMESTAMP)"
    case _ => ""
  }

  private def micros(e: Expression): Expression = e.dataType match {
    case TimestampNTZType => UnixMicros(Cast(e, TimestampType, Some("UTC")))
    case _ => UnixMicros(e)
  }

  private def days(e: Expression): Expression = UnixDate(e)

  private def wholeDays(amount: Literal): Option[Int] = amount.value match {
    case micros: Long if micros % (24L * 3600 * 1000000) == 0 =>
      Some((micros / (24L * 3600 * 1000000)).toInt)
    case _ => None
  }

  /** Of more days, what is meant are often smaller units. */
  private def daysOf(amount: Literal, written: Expression): Int = amount.value match {
    case number: Number if number.longValue <= Int.MaxValue => number.intValue
    case _ =>
      throw ClauseError(
        s"TOLERANCE ${written.sql} days are more than the ${Int.MaxValue} that a tolerance of dates may have",
        written.origin
      )
  }

  /** A type whose sums Spark does not round. */
  private def exactly(a: NumericType, b: NumericType, written: Expression): DecimalType = {
    val scale = math.max(digits(a)._2, digits(b)._2)
    val whole = Seq(a, b).map(t => digits(t)._1 - digits(t)._2).max
    if (whole + scale >= DecimalType.MAX_PRECISION)
      throw ClauseError(
        s"TOLERANCE ${written.sql} beside values of type ${a.sql} is not supported yet, because their sums need " +
          s"more than ${DecimalType.MAX_PRECISION} digits: cast the values to fewer",
        written.origin
      )
    DecimalType(whole + scale, scale)
  }

  /** Precision and scale. */
  private def digits(t: NumericType): (Int, Int) = t match {
    case d: DecimalType => (d.precision, d.scale)
    case ByteType => (3, 0)
    case ShortType => (5, 0)
    case IntegerType => (10, 0)
    case _ => (20, 0)
  }
}
