// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import java.time.{ZoneId, ZoneOffset}
import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import plait.constraint.Term.{Call, Constant}
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.CalendarOperation.{From, PlusMonths, TruncateDate, YearOf}
import plait.interval.ClockOperation._
import plait.interval.FieldOperation.{Minus, Plus, Times}
import plait.interval.StepOperation.{FloorQuotient, Quotient}
import plait.interval.{Domain, Rational, RealOperation, TimeUnit}

/** Dates, timestamps and the time between them.
  *
  * {{{
  * date_add(l.d, 3)               Call(+ of date, Wraps)      Spark adds days without a check
  * unix_seconds(l.t)              Call(floor / 1000000)
  * l.d - r.d                      days times 86400000000
  * CAST(l.t AS DATE)              the local time, in the expression's zone, floor to days
  * l.t - r.t                      the difference of the local times
  * }}}
  */
final private[translate] class TimeTranslation(of: Spark => Term) {

  import TimeTranslation._

  def translate: PartialFunction[Spark, Term] = {
    case DateAdd(d, days) => Call(wrapping(Plus, Domain.Date), of(d), of(days))
    case DateSub(d, days) => Call(wrapping(Minus, Domain.Date), of(d), of(days))
    case DateDiff(end, start) => Call(wrapping(Minus, Domain.Int), of(end), of(start))
    case SubtractDates(l, r, false) =>
      val days = Call(Arithmetic.exact(Minus), of(l), of(r))
      Call(failing(Times, Domain.Integer, Domain.DayTimeInterval), days, Constant(86400000000L))
    case UnixDate(d) => of(d)
    case UnixSeconds(t) => units(t, 1000000L)
    case UnixMillis(t) => units(t, 1000L)
    case UnixMicros(t) => of(t)
    case PreciseTimestampConversion(t, _, _) => of(t)
    case SecondsToTimestamp(c) if OrderedType.Integers.unapply(c.dataType) => instant(c, 1000000L)
    case s @ SecondsToTimestamp(c) if c.dataType.isInstanceOf[DecimalType] =>
      // Exactly, or Spark fails.
      Call(failing(Times, domain(c), domain(s)), of(c), Constant(1000000L))
    case SecondsToTimestamp(c) if c.dataType == DoubleType =>
      InstantCasts.ofDouble(of(c), EvalMode.LEGACY)
    case MillisToTimestamp(c) => instant(c, 1000L)
    case MicrosToTimestamp(c) => of(c)
    case t @ TimestampAddInterval(l, r, _)
        if r.dataType.isInstanceOf[DayTimeIntervalType] && InstantSum.isOfMicros(t.dataType) =>
      val sum = zone(t, t.dataType).fold[RealOperation](Plus)(PlusDayTime(_))
      Call(failing(sum, domain(t), domain(t)), of(l), of(r))
    case t @ TimestampAddYMInterval(l, r, _) if InstantSum.isOfMicros(t.dataType) =>
      val sum = PlusMonthsInZone(zone(t, t.dataType).getOrElse(ZoneOffset.UTC))
      Call(failing(sum, domain(t), domain(t)), of(l), of(r))
    case s @ SubtractTimestamps(l, r, false, _)
        if s.children.forall(c => InstantSum.isOfMicros(c.dataType)) =>
      val difference = zone(s, l.dataType).fold[RealOperation](Minus)(MinusTimestamps(_))
      Call(failing(difference, domain(l), Domain.DayTimeInterval), of(l), of(r))
    case DateAddYMInterval(d, months) => plusMonths(d, months)
    case AddMonths(d, months) => plusMonths(d, months)
    case Year(d) => Call(failing(YearOf, Domain.Date, Domain.Int), of(d))
    case TruncDate(d, Unit(unit: TimeUnit.OfDays)) =>
      val truncated = From(Rational(firstSureDay), TruncateDate(unit))
      Call(failing(truncated, Domain.Date, Domain.Date), of(d))
    case t @ TruncTimestamp(Unit(unit), c, _) =>
      Call(failing(TruncateTimestamp(t.zoneId, unit), Domain.Timestamp, Domain.Timestamp), of(c))
    case u @ ToUnixTimestamp(t, _, _, _) if isTime(t) => seconds(u, t)
    case u @ UnixTimestamp(t, _, _, _) if isTime(t) => seconds(u, t)
    case c @ Cast(t, DateType, _, _) if isTime(t) && t.dataType != DateType =>
      Call(failing(FloorQuotient(day), Domain.TimestampNtz, Domain.Date), local(c, t, overflow(c)))
    case c @ Cast(t, TimestampNTZType, _, _) if isTime(t) && !isTriedDate(c) =>
      local(c, t, overflow(c))
    case c @ Cast(t, TimestampType, _, _) if isTime(t) && !isTriedDate(c) =>
      instant(c, t, overflow(c))
  }

  private def zone(e: TimeZoneAwareExpression, dataType: DataType): Option[ZoneId] =
    if (dataType == TimestampType) Some(e.zoneId) else None

  private def domain(e: Spark): Domain = OrderedType.domain(e.dataType).get

  private def isTime(e: Spark): Boolean = e.dataType match {
    case DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  private def plusMonths(d: Spark, months: Spark): Term =
    Call(failing(PlusMonths(), Domain.Date, Domain.Date), of(d), of(months))

  /** What a clock on the wall shows, as TIMESTAMP_NTZ. */
  private def local(e: TimeZoneAwareExpression, t: Spark, overflow: Overflow): Term =
    t.dataType match {
      case TimestampNTZType => of(t)
      case DateType =>
        val times = Arithmetic(Times, Domain.Date, Domain.TimestampNtz, overflow)
        Call(times, of(t), Constant(86400000000L))
      case _ =>
        val toLocal = ToLocal(zone(e, TimestampType).get)
        Call(Arithmetic(toLocal, Domain.Timestamp, Domain.TimestampNtz, overflow), of(t))
    }

  private def instant(e: TimeZoneAwareExpression, t: Spark, overflow: Overflow): Term =
    t.dataType match {
      case TimestampType => of(t)
      case _ =>
        val fromLocal = FromLocal(zone(e, TimestampType).get)
        val counted = Arithmetic(fromLocal, Domain.TimestampNtz, Domain.Timestamp, overflow)
        Call(counted, local(e, t, overflow))
    }

  /** A date that no timestamp can hold. */
  private def overflow(cast: Cast): Overflow =
    if (cast.evalMode == EvalMode.TRY) Overflow.GivesNull else Overflow.Fails

  /** `unix_timestamp` cuts off what `unix_seconds` rounds down: of 1969-12-31 23:59:59.5 it makes 0. */
  private def seconds(e: TimeZoneAwareExpression, t: Spark): Term = {
    // A TIMESTAMP_NTZ is counted as if it were in UTC.
    val counted = if (t.dataType == TimestampNTZType) of(t) else instant(e, t, Overflow.Fails)
    Call(failing(Quotient, Domain.Timestamp, Domain.Long), counted, Constant(1000000L))
  }

  private def failing(operation: RealOperation, from: Domain, to: Domain) =
    Arithmetic(operation, from, to, Overflow.Fails)

  private def wrapping(operation: RealOperation, domain: Domain) =
    Arithmetic(operation, Domain.Date, domain, Overflow.Wraps)

  private def units(t: Spark, micros: Long): Term =
    Call(failing(FloorQuotient(Rational(micros)), Domain.Timestamp, Domain.Long), of(t))

  private def instant(c: Spark, micros: Long): Term =
    Call(failing(Times, Domain.Long, Domain.Timestamp), of(c), Constant(micros))
}

private[translate] object TimeTranslation {

  /** Of a date too far away for it Spark's generated code gives an instant, and its interpreter NULL. */
  def isTriedDate(e: Spark): Boolean = e match {
    case c: Cast => c.child.dataType == DateType && c.evalMode == EvalMode.TRY
    case _ => false
  }

  private val day = Rational(86400000000L)

  /** Within the first year of the type Spark's truncated days wrap around. */
  private val firstSureDay = Int.MinValue + 366

  /** A unit as Spark's truncations name it, in a literal. */
  private object Unit {
    def unapply(format: Spark): Option[TimeUnit] = format match {
      case Literal(name: UTF8String, _) =>
        name.toString.toUpperCase(Locale.ROOT) match {
          case "YYYY" | "YY" => Some(TimeUnit.Year)
          case "MON" | "MM" => Some(TimeUnit.Month)
          case "DD" => Some(TimeUnit.Day)
          case other => TimeUnit.All.find(_.name.equalsIgnoreCase(other))
        }
      case _ => None
    }
  }
}
