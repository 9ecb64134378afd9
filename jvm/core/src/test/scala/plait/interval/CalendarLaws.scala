// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for tightness.
package plait.interval

import java.time.temporal.{ChronoUnit, IsoFields, TemporalAdjusters}
import java.time.{DayOfWeek, LocalDate, ZoneId}

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.CalendarOperation._
import plait.interval.ClockOperation._
import plait.interval.Clocks._

class CalendarLaws extends LawSuite {
  private val date: Gen[Long] = Gen.frequency(
    6 -> Gen.choose(-1500L, 25000L),
    3 -> (for {
      y <- Gen.choose(1895, 2105); m <- Gen.choose(1, 12); d <- Gen.choose(-3L, 3L)
    } yield LocalDate
      .of(y, m, 1)
      .toEpochDay + d),
    1 -> Gen.choose(Int.MinValue.toLong, Int.MaxValue.toLong)
  )
  private val months: Gen[Long] = Gen.frequency(
    6 -> Gen.choose(-14L, 14L),
    2 -> Gen.choose(-3000L, 3000L),
    1 -> Gen.choose(Int.MinValue.toLong, Int.MaxValue.toLong)
  )
  private val count: Gen[Long] =
    Gen.oneOf(Gen.choose(0L, 3L), Gen.choose(0L, 40L), Gen.choose(0L, 4000L))

  private def shifted(day: Long, months: Long): Long =
    LocalDate.ofEpochDay(day).plusMonths(months).toEpochDay

  property("d + m of dates, with the last day of months that are too short") {
    forAllNoShrink(date, months) { (d, m) =>
      keepsLaws(PlusMonths(), shifted(d, m), count)(BigInt(d) -> count, BigInt(m) -> count)
    }
  }

  /** `set` begins and ends with an `x` that `f` maps into `rs`, and there is none just outside. An
    * empty one has none around `x`.
    */
  private def isHull(set: IntervalSet, rs: IntervalSet, x: Long, around: Long)(
      f: Long => Long
  ): Boolean = {
    def isIn(x: Long) = rs.contains(Rational(f(x)))
    if (set.isEmpty) !(x - around to x + around).exists(isIn)
    else {
      val from = Bound.at(set.lower).numerator.toLong
      val to = Bound.at(set.upper).numerator.toLong
      isIn(from) && isIn(to) && !(from - around until from).exists(isIn) &&
      !(to + 1 to to + around).exists(isIn)
    }
  }

  property("d + m of dates: both ways the hull, for one m and for one d") {
    forAllNoShrink(
      date,
      Gen.choose(-14L, 14L),
      Gen.choose(0L, 70L),
      Gen.choose(-4L, 4L),
      Gen.oneOf(Gen.const(0L), Gen.choose(0L, 70L))
    ) { (d, m, length, away, ofResult) =>
      val plus = PlusMonths()
      val result = shifted(d, m)
      val rs = closed(result + away, result + away + ofResult)
      val days = plus.backward(rs, Vector(IntervalSet.All, point(m)), 0)
      val months = plus.backward(rs, Vector(point(d), IntervalSet.All), 1)
      plus.forward(Vector(closed(d, d + length), point(m))) ==
        closed(result, shifted(d + length, m)) &&
        isHull(days, rs, d, 8)(shifted(_, m)) &&
        isHull(months, rs, m, 2)(shifted(d, _))
    }
  }

  property("l + m of local times keeps the time of day") {
    forAllNoShrink(locals(berlin), Gen.choose(-3000L, 3000L)) { (l, m) =>
      val result = micros(local(l).plusMonths(m))
      keepsLaws(PlusMonths(day), result, length)(BigInt(l) -> length, BigInt(m) -> count)
    }
  }

  /** With days of three parts, all can be looked at. */
  property("l + m of local times: the hull, both ways") {
    def plus(l: Long, m: Long) = shifted(Math.floorDiv(l, 3L), m) * 3 + Math.floorMod(l, 3L)
    val part = for { d <- date; p <- Gen.choose(0, 2) } yield d * 3 + p
    forAllNoShrink(
      part,
      Gen.choose(-14L, 14L),
      Gen.choose(0L, 15L),
      Gen.choose(-12L, 12L),
      Gen.choose(0L, 15L)
    ) { (l, m, length, away, ofResult) =>
      val results = (l to l + length).map(plus(_, m))
      val rs = closed(results.head + away, results.head + away + ofResult)
      val op = PlusMonths(3)
      op.forward(Vector(closed(l, l + length), point(m))) == closed(results.min, results.max) &&
      isHull(op.backward(rs, Vector(IntervalSet.All, point(m)), 0), rs, l, 24)(plus(_, m))
    }
  }

  private val moment = zone.flatMap(z => instants(z).map((z, _)))

  property("t + m in a zone, the sum often close to a transition") {
    forAllNoShrink(zone.flatMap(z => locals(z).map((z, _))), Gen.choose(-3000L, 3000L)) {
      case ((z, l), m) =>
        val t = micros(local(l).minusMonths(m).atZone(z).toInstant)
        val result = micros(zoned(t.toLong, z).plusMonths(m).toInstant)
        keepsLaws(PlusMonthsInZone(z), result, length)(t -> length, BigInt(m) -> count)
    }
  }

  private def first(unit: TimeUnit.OfDays, date: LocalDate): LocalDate = unit match {
    case TimeUnit.Week => date.`with`(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY))
    case TimeUnit.Month => date.withDayOfMonth(1)
    case TimeUnit.Quarter => date.`with`(IsoFields.DAY_OF_QUARTER, 1L)
    case TimeUnit.Year => date.withDayOfYear(1)
  }

  private val unitOfDays: Gen[TimeUnit.OfDays] =
    Gen.oneOf(TimeUnit.Week, TimeUnit.Month, TimeUnit.Quarter, TimeUnit.Year)

  property("the first day of a week, month, quarter, year") {
    forAllNoShrink(date, unitOfDays) { (d, unit) =>
      val result = first(unit, LocalDate.ofEpochDay(d)).toEpochDay
      keepsLaws(TruncateDate(unit), result, count)(BigInt(d) -> count)
    }
  }

  property("what begins within R is whole weeks, months, quarters, years") {
    forAllNoShrink(date, unitOfDays, Gen.choose(0L, 800L)) { (d, unit, length) =>
      val rs = closed(d, d + length)
      def begin(x: Long) = first(unit, LocalDate.ofEpochDay(x)).toEpochDay
      val found = TruncateDate(unit).backward(rs, Vector(IntervalSet.All), 0)
      if (found.isEmpty) begin(d + length) < d else isHull(found, rs, d, 1)(begin)
    }
  }

  property("the year of a date; the dates of the years within R") {
    forAllNoShrink(date, Gen.choose(0L, 3L)) { (d, length) =>
      val year = BigInt(LocalDate.ofEpochDay(d).getYear)
      val rs = IntervalSet.closed(Rational(year), Rational(year + length))
      val first = LocalDate.of(year.toInt, 1, 1)
      keepsLaws(YearOf, year, count)(BigInt(d) -> count) &&
      YearOf.backward(rs, Vector(IntervalSet.All), 0) ==
        closed(first.toEpochDay, first.plusYears(length + 1).toEpochDay - 1)
    }
  }

  private def truncated(t: Long, zone: ZoneId, unit: TimeUnit): BigInt = {
    val at = zoned(t, zone)
    micros((unit match {
      case days: TimeUnit.OfDays => first(days, at.toLocalDate).atStartOfDay(zone)
      case TimeUnit.Microsecond => at.truncatedTo(ChronoUnit.MICROS)
      case TimeUnit.Millisecond => at.truncatedTo(ChronoUnit.MILLIS)
      case TimeUnit.Second => at.truncatedTo(ChronoUnit.SECONDS)
      case TimeUnit.Minute => at.truncatedTo(ChronoUnit.MINUTES)
      case TimeUnit.Hour => at.truncatedTo(ChronoUnit.HOURS)
      case TimeUnit.Day => at.truncatedTo(ChronoUnit.DAYS)
    }).toInstant)
  }

  property("date_trunc in a zone, by every unit") {
    forAllNoShrink(moment, Gen.oneOf(TimeUnit.All)) { case ((z, t), unit) =>
      val op = TruncateTimestamp(z, unit)
      keepsLaws(op, truncated(t, z, unit), length)(BigInt(t) -> length)
    }
  }

  test("[2026-01-30, 2026-02-02] + 1 month = [2026-02-28, 2026-03-02]") {
    val dates = closed(days("2026-01-30"), days("2026-02-02"))
    assertEquals(
      PlusMonths().forward(Vector(dates, point(1))),
      closed(days("2026-02-28"), days("2026-03-02"))
    )
  }

  test("d + 1 month = 2026-02-28: d in [2026-01-28, 2026-01-31]") {
    assertEquals(
      PlusMonths().backward(point(days("2026-02-28")), Vector(IntervalSet.All, point(1)), 0),
      closed(days("2026-01-28"), days("2026-01-31"))
    )
  }

  test("2026-01-31 + m in [2026-02-28, 2026-04-29]: m in [1, 2]") {
    val result = closed(days("2026-02-28"), days("2026-04-29"))
    assertEquals(
      PlusMonths().backward(result, Vector(point(days("2026-01-31")), IntervalSet.All), 1),
      closed(1, 2)
    )
  }

  test("a month before 31 March, 02:30, is 28 February in Berlin, exactly") {
    val t = point(micros("2026-03-31T00:30"))
    assertEquals(
      PlusMonthsInZone(berlin).forward(Vector(t, point(-1))),
      point(micros("2026-02-28T01:30"))
    )
    assertEquals(
      PlusMonthsInZone(berlin).forward(Vector(IntervalSet.atLeast(Rational(0)), point(0))),
      IntervalSet.atLeast(Rational(0))
    )
  }

  test("months of [2026-01-30, 2026-02-02]; days whose month begins in [2026-01-02, 2026-02-02]") {
    val month = TruncateDate(TimeUnit.Month)
    assertEquals(
      month.forward(Vector(closed(days("2026-01-30"), days("2026-02-02")))),
      closed(days("2026-01-01"), days("2026-02-01"))
    )
    assertEquals(
      month.backward(closed(days("2026-01-02"), days("2026-02-02")), Vector(IntervalSet.All), 0),
      closed(days("2026-02-01"), days("2026-02-28"))
    )
  }

  test("the day of Berlin on which 2026-06-01T22:30Z is begins at 22:00Z, and only that day does") {
    val op = TruncateTimestamp(berlin, TimeUnit.Day)
    val begin = point(micros("2026-06-01T22:00"))
    assertEquals(op.forward(Vector(point(micros("2026-06-01T22:30")))), begin)
    assertEquals(
      Domain.Timestamp.tighten(op.backward(begin, Vector(IntervalSet.All), 0)),
      closed("2026-06-01T22:00", "2026-06-02T21:59:59.999999")
    )
  }

  test("ends that no date has are dropped") {
    val far = Rational(BigInt(1) << 70)
    assertEquals(
      PlusMonths().forward(Vector(IntervalSet.closed(Rational(0), far), point(1))),
      IntervalSet.atLeast(Rational(31))
    )
    for (set <- Seq(IntervalSet.All, IntervalSet.point(far), IntervalSet.point(-far))) {
      PlusMonths().backward(set, Vector(set, set), 0)
      PlusMonths().backward(set, Vector(set, set), 1)
      TruncateDate(TimeUnit.Year).backward(set, Vector(set), 0)
      YearOf.backward(set, Vector(set), 0)
      YearOf.forward(Vector(set))
    }
  }
}
