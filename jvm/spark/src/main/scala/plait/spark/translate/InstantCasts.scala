// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types._

import plait.constraint.Term.{Call, Constant}
import plait.constraint.{Arithmetic, Compared, Comparison, Finite, Overflow, Term}
import plait.interval.Detour.{Near, ToLong}
import plait.interval.FieldOperation.{Divide => Divided, Same, Times}
import plait.interval.StepOperation.FloorQuotient
import plait.interval.{Domain, Rational, RealOperation}
import plait.spark.translate.CastTranslation.{domain, failing, truncated}
import plait.spark.translate.OrderedType.Integers

/** Casts between TIMESTAMP and numbers, which are seconds, and BOOLEAN, which is a microsecond.
  *
  * {{{
  * timestamp to bigint        floor to seconds
  * timestamp to double        microseconds as a double, divided by one million
  * timestamp to decimal       as that double's text
  * bigint to timestamp        times one million, saturated
  * double to timestamp        times one million, to zero; legacy saturates, NULL for NaN, infinities
  * decimal to timestamp       times one million, to zero, of that the low bits, whatever the mode
  * }}}
  *
  * @param decimal
  *   the decimal that a finite floating number becomes
  */
final private[translate] class InstantCasts(
    of: Spark => Term,
    decimal: (Term, Domain.Floating, DecimalType, EvalMode.Value) => Term
) {
  import InstantCasts._

  def translate: PartialFunction[Spark, Term] = {
    case Cast(t, to, _, mode) if t.dataType == TimestampType && isKnown(to) => seconds(t, to, mode)
    case Cast(c, TimestampType, _, mode) if isKnown(c.dataType) => instant(c, mode)
  }

  private def isKnown(number: DataType): Boolean = number match {
    case BooleanType | _: NumericType => true
    case _ => false
  }

  private def seconds(t: Spark, to: DataType, mode: EvalMode.Value): Term = to match {
    case BooleanType => Call(Compared(Comparison.NotEqual), of(t), Constant(0))
    case LongType => Call(floor(Domain.Long, Overflow.Fails), of(t))
    case Integers() =>
      val overflow = if (mode == EvalMode.ANSI) Overflow.Fails else Overflow.GivesNull
      Call(floor(domain(to), overflow), of(t))
    case d: DecimalType => decimal(secondsAsDouble(t), Domain.Double, d, mode)
    case FloatType => Call(exactly(Same, Domain.Double, Domain.Float), secondsAsDouble(t))
    case _ => secondsAsDouble(t)
  }

  private def floor(to: Domain, overflow: Overflow) =
    Arithmetic(FloorQuotient(Rational(second.value)), Domain.Timestamp, to, overflow)

  /** Rounded once as a double, and once more as a quotient. */
  private def secondsAsDouble(t: Spark): Term = {
    val asDouble = Call(exactly(Same, Domain.Timestamp, Domain.Double), of(t))
    Call(exactly(Divided, Domain.Double, Domain.Double), asDouble, second)
  }

  private def instant(c: Spark, mode: EvalMode.Value): Term = c.dataType match {
    case BooleanType => Call(exactly(Same, Domain.Boolean, Domain.Timestamp), of(c))
    case Integers() =>
      Call(Arithmetic(Times, Domain.Long, Domain.Timestamp, Overflow.Saturates), of(c), second)
    case d: DecimalType =>
      val micros = Call(exactly(times(d), domain(d), Domain.Real), of(c), second)
      Call(Arithmetic(truncated, Domain.Real, Domain.Timestamp, Overflow.Wraps), micros)
    case FloatType => ofDouble(Call(exactly(Same, Domain.Float, Domain.Double), of(c)), mode)
    case _ => ofDouble(of(c), mode)
  }

  /** Spark's interpreter rounds the product to 34 digits, its generated code does not. */
  private def times(d: DecimalType): RealOperation = {
    val lost = d.precision + digits - 34
    if (lost <= 0) Times else Near(Times, Rational.scaled(1, d.scale - lost))
  }
}

private object InstantCasts {

  /** In microseconds. */
  private val second = Constant(1000000)

  /** How many digits a product with that may have more than its other factor. */
  private val digits = 6

  /** Of a number of seconds; as `timestamp_seconds` in every mode the legacy cast. */
  def ofDouble(seconds: Term, mode: EvalMode.Value): Term = {
    def micros(x: Term) = Call(exactly(Times, Domain.Double, Domain.Double), x, second)
    if (mode == EvalMode.LEGACY) {
      val whole = Arithmetic(truncated, Domain.Double, Domain.Timestamp, Overflow.Saturates)
      Call(whole, micros(Call(Finite(Domain.Double), seconds)))
    } else
      Call(Arithmetic(ToLong, Domain.Double, Domain.Timestamp, failing(mode)), micros(seconds))
  }

  private def exactly(operation: RealOperation, from: Domain, to: Domain) =
    Arithmetic(operation, from, to, Overflow.Fails)
}
