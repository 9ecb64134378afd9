// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import java.time.{ZoneId, ZoneOffset}

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types.TimestampType

import plait.constraint.Term.{Call, Constant}
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.ClockOperation._
import plait.interval.FieldOperation.{Minus, Plus, Times}
import plait.interval.StepOperation.Quotient
import plait.interval.{Domain, MonthsBetween, RealOperation, TimeUnit}

/** Timestamps and numbers of units, as TIMESTAMPADD and TIMESTAMPDIFF count them.
  *
  * {{{
  * timestampdiff(HOUR, l.t, r.t)      l.t from r.t on the clocks, to zero in hours
  * timestampdiff(YEAR, l.t, r.t)      the months between the local times, to zero in twelves
  * timestampadd(HOUR, l.n, r.t)       l.n * 3600000000 later, by the stop watch, days of them too
  * timestampadd(DAY, l.n, r.t)        l.n days later by the calendar
  * timestampadd(QUARTER, l.n, r.t)    l.n * 3 months later by the calendar
  * }}}
  *
  * What does not fit is an error, whatever the mode. Of days, weeks and months there are no more than an
  * int can hold.
  */
final private[translate] class UnitTranslation(of: Spark => Term) {
  import UnitTranslation._

  def translate: PartialFunction[Spark, Term] = {
    case d @ TimestampDiff(Even(micros), start, end, _) =>
      val difference = zone(d, end).fold[RealOperation](Minus)(MinusTimestamps(_))
      val between = Call(failing(difference, domain(end), Domain.Integer), of(end), of(start))
      quotient(between, micros)
    case d @ TimestampDiff(Months(n), start, end, _) =>
      val between = failing(MonthsBetween, Domain.Integer, Domain.Integer)
      quotient(Call(between, local(d, end), local(d, start)), n)
    case a @ TimestampAdd(Even(micros), n, t, _) if micros < TimeUnit.Day.micros =>
      val length =
        Call(failing(Times, Domain.Long, Domain.DayTimeInterval), of(n), Constant(micros))
      Call(failing(Plus, domain(t), domain(a)), of(t), length)
    case a @ TimestampAdd(Even(micros), n, t, _) =>
      val days = times(n, micros / TimeUnit.Day.micros)
      val day = failing(Times, Domain.Integer, Domain.Integer)
      val length = Call(day, days, Constant(TimeUnit.Day.micros))
      val sum = zone(a, t).fold[RealOperation](Plus)(PlusDayTime(_))
      Call(failing(sum, domain(t), domain(a)), of(t), length)
    case a @ TimestampAdd(Months(months), n, t, _) =>
      val sum = PlusMonthsInZone(zone(a, t).getOrElse(ZoneOffset.UTC))
      Call(failing(sum, domain(t), domain(a)), of(t), times(n, months))
  }

  /** Whole units of so many; both parts are to zero. */
  private def quotient(term: Term, size: Long): Term =
    Call(failing(Quotient, Domain.Integer, Domain.Long), term, Constant(size))

  /** As ints. */
  private def times(n: Spark, factor: Long): Term = {
    val int = Call(failing(plait.interval.FieldOperation.Same, Domain.Long, Domain.Int), of(n))
    Call(failing(Times, Domain.Int, Domain.Int), int, Constant(factor))
  }

  private def local(e: TimeZoneAwareExpression, t: Spark): Term = zone(e, t) match {
    case Some(zone) => Call(failing(ToLocal(zone), Domain.Timestamp, Domain.Integer), of(t))
    case None => of(t)
  }

  private def zone(e: TimeZoneAwareExpression, t: Spark): Option[ZoneId] =
    if (t.dataType == TimestampType) Some(e.zoneId) else None

  private def domain(e: Spark): Domain = OrderedType.domain(e.dataType).get

  private def failing(operation: RealOperation, from: Domain, to: Domain) =
    Arithmetic(operation, from, to, Overflow.Fails)
}

private object UnitTranslation {

  /** Units that all are equally long, on the clocks, in microseconds. */
  private object Even {
    def unapply(name: String): Option[Long] = named(name) match {
      case Some(even: TimeUnit.Even) => Some(even.micros)
      case Some(TimeUnit.Week) => Some(7 * TimeUnit.Day.micros)
      case _ if name.equalsIgnoreCase("DAYOFYEAR") => Some(TimeUnit.Day.micros)
      case _ => None
    }
  }

  /** Units of whole months. */
  private object Months {
    def unapply(name: String): Option[Long] = named(name).collect {
      case TimeUnit.Month => 1L
      case TimeUnit.Quarter => 3L
      case TimeUnit.Year => 12L
    }
  }

  private def named(name: String): Option[TimeUnit] =
    TimeUnit.All.find(_.name.equalsIgnoreCase(name))
}
