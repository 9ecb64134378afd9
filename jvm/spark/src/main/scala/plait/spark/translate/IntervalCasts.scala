// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types._

import plait.constraint.Term.{Call, Constant}
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.Detour.Near
import plait.interval.FieldOperation.{Divide => Divided, Same, Times}
import plait.interval.StepOperation.{Middle, Nearest, Quotient, ToZero}
import plait.interval.{Domain, Rational, RealOperation, TimeUnit}
import plait.spark.translate.CastTranslation.{domain, failing}
import plait.spark.translate.OrderedType.Integers

/** Casts between intervals of different fields, and between intervals and numbers, which count what
  * the interval's last field counts.
  *
  * {{{
  * INTERVAL DAY TO SECOND to DAY TO HOUR      to zero in hours
  * INTERVAL DAY TO HOUR to int                hours, to zero
  * INTERVAL DAY TO SECOND to decimal(9, 3)    seconds, rounded
  * int to INTERVAL HOUR                       times 3600000000
  * decimal(9, 3) to INTERVAL YEAR             times 12, rounded, the middle away from 0
  * }}}
  *
  * What does not fit is an error in legacy mode too.
  */
final private[translate] class IntervalCasts(of: Spark => Term) {
  import IntervalCasts._

  def translate: PartialFunction[Spark, Term] = {
    case Cast(i, to, _, _) if i.dataType.getClass == to.getClass && unit(to).isDefined =>
      narrowed(i, to)
    case Cast(i, to @ Integers(), _, mode) if unit(i.dataType).isDefined =>
      Call(quotient(i, domain(to), failing(mode)), of(i), Constant(unit(i.dataType).get))
    case Cast(i, to: DecimalType, _, mode) if unit(i.dataType).isDefined =>
      decimal(i, to, failing(mode))
    case Cast(n @ Integer(), to, _, mode) if unit(to).isDefined =>
      val times = Arithmetic(Times, Domain.Long, domain(to), failing(mode))
      Call(times, of(n), Constant(unit(to).get))
    case Cast(d, to, _, mode) if d.dataType.isInstanceOf[DecimalType] && unit(to).isDefined =>
      val product = Call(exactly(rounded, domain(d.dataType)), of(d), Constant(unit(to).get))
      Call(Arithmetic(nearest, Domain.Real, domain(to), failing(mode)), product)
  }

  /** Seconds have fractions, which stay. */
  private def narrowed(i: Spark, to: DataType): Term = to match {
    case DayTimeIntervalType(_, DayTimeIntervalType.SECOND) => of(i)
    case YearMonthIntervalType(_, YearMonthIntervalType.MONTH) => of(i)
    case _ =>
      val toZero = ToZero(Rational(unit(to).get))
      Call(Arithmetic(toZero, domain(i.dataType), domain(to), Overflow.Fails), of(i))
  }

  private def quotient(i: Spark, to: Domain, overflow: Overflow) =
    Arithmetic(Quotient, domain(i.dataType), to, overflow)

  private def decimal(i: Spark, to: DecimalType, overflow: Overflow): Term = i.dataType match {
    case DayTimeIntervalType(_, DayTimeIntervalType.SECOND) =>
      val seconds = Arithmetic(Divided, Domain.DayTimeInterval, domain(to), overflow)
      Call(seconds, of(i), Constant(TimeUnit.Second.micros))
    case from =>
      val whole = Call(quotient(i, Domain.Long, Overflow.Fails), of(i), Constant(unit(from).get))
      Call(Arithmetic(Same, Domain.Long, domain(to), overflow), whole)
  }

  private def exactly(operation: RealOperation, from: Domain) =
    Arithmetic(operation, from, Domain.Real, Overflow.Fails)
}

private[translate] object IntervalCasts {

  /** Products and quotients of decimals keep at least 34 digits, and intervals have no more than 19:
    * of what becomes an interval no more is lost than this.
    */
  private[translate] val lost = Rational.scaled(1, 12)
  private val rounded = Near(Times, lost)
  private[translate] val nearest = Nearest(Rational.One, Middle.AwayFromZero)

  private object Integer {
    def unapply(e: Spark): Boolean = Integers.unapply(e.dataType)
  }

  /** How many microseconds, or months, the last field of an interval counts. */
  private def unit(dataType: DataType): Option[Long] = dataType match {
    case DayTimeIntervalType(_, DayTimeIntervalType.DAY) => Some(TimeUnit.Day.micros)
    case DayTimeIntervalType(_, DayTimeIntervalType.HOUR) => Some(TimeUnit.Hour.micros)
    case DayTimeIntervalType(_, DayTimeIntervalType.MINUTE) => Some(TimeUnit.Minute.micros)
    case DayTimeIntervalType(_, DayTimeIntervalType.SECOND) => Some(TimeUnit.Second.micros)
    case YearMonthIntervalType(_, YearMonthIntervalType.YEAR) => Some(12L)
    case YearMonthIntervalType(_, YearMonthIntervalType.MONTH) => Some(1L)
    case _ => None
  }
}
