// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for tightness.
package plait.interval

import java.time.temporal.ChronoUnit
import java.time.zone.ZoneOffsetTransition
import java.time.{LocalDate, ZoneId, ZoneOffset}

import org.scalacheck.Prop._
import org.scalacheck.{Gen, Prop}

import plait.interval.ClockOperation._
import plait.interval.Clocks._
import plait.{Cases, LawSuite}

class WallClockLaws extends LawSuite {
  private def holds(op: RealOperation, result: BigInt, values: BigInt*): Prop =
    keepsLaws(op, result)(values.map(_ -> length): _*)

  private val moment = zone.flatMap(z => instants(z).map((z, _)))

  property("to local: t ∈ A gives L(t), and L(t) ∈ R gives t") {
    forAllNoShrink(moment) { case (z, t) => holds(ToLocal(z), micros(shown(t, z)), BigInt(t)) }
  }

  property("to local: the ends are the least and the greatest L(t)") {
    forAllNoShrink(moment, Gen.choose(0L, 3 * year)) { case ((z, from), length) =>
      val to = from + length
      val transitions = Iterator
        .iterate(z.getRules.nextTransition(instant(from)))(t =>
          z.getRules.nextTransition(t.getInstant)
        )
        .takeWhile(t => t != null && t.toEpochSecond * second <= to)
        .map(_.toEpochSecond * second)
        .toSeq
      val local =
        (Seq(from, to) ++ transitions ++ transitions.map(_ - 1)).map(t => micros(shown(t, z)))
      ToLocal(z).forward(Vector(closed(from, to))) ?= closed(local.min, local.max)
    }
  }

  property("to local: instants that show what is in R are all there is, at the ends") {
    forAllNoShrink(zone.flatMap(z => locals(z).map((z, _))), length) { case ((z, from), length) =>
      val to = math.min(from, Long.MaxValue / 2) + length
      val found = ToLocal(z).backward(closed(from, to), Vector(IntervalSet.All), 0)
      val ends = found.spans.flatMap(s => Seq(s.lower, s.upper)).map(Bound.at(_).numerator.toLong)
      ends.map(t => micros(shown(t, z))).forall(l => l >= from && l <= to)
    }
  }

  property("from local: whichever instant a local time is resolved to") {
    forAllNoShrink(zone.flatMap(z => locals(z).map((z, _))), Gen.oneOf(true, false)) {
      case ((z, l), isLater) =>
        val resolved = local(l).atZone(z)
        val chosen =
          if (isLater) resolved.withLaterOffsetAtOverlap else resolved.withEarlierOffsetAtOverlap
        holds(FromLocal(z), micros(chosen.toInstant), BigInt(l))
    }
  }

  property("from local: midnight is where the day starts") {
    forAllNoShrink(zone.flatMap(z => locals(z).map((z, _)))) { case (z, l) =>
      val date = local(l).toLocalDate
      holds(FromLocal(z), micros(date.atStartOfDay(z).toInstant), micros(date.atStartOfDay))
    }
  }

  private val dayTime: Gen[Long] = for {
    d <- length
    days <- Gen.oneOf(-2, -1, 0, 1, 2, 30)
    sign <- Gen.oneOf(-1, 1)
  } yield days * day + sign * d

  private def sum(t: Long, i: Long, z: ZoneId): BigInt = {
    val days = i / day
    micros(zoned(t, z).plusDays(days).plus(i - days * day, ChronoUnit.MICROS).toInstant)
  }

  property("t + i: days by the calendar, the rest by the stop watch") {
    forAllNoShrink(moment, dayTime) { case ((z, t), i) =>
      holds(PlusDayTime(z), sum(t, i, z), BigInt(t), BigInt(i))
    }
  }

  property("t + i, where the days often lead close to a transition") {
    forAllNoShrink(zone.flatMap(z => locals(z).map((z, _))), dayTime) { case ((z, l), i) =>
      val t = micros(local(l).minusDays(i / day).atZone(z).toInstant)
      holds(PlusDayTime(z), sum(t.toLong, i, z), t, BigInt(i))
    }
  }

  property("a - b: the time between what the clocks show") {
    forAllNoShrink(moment, near(dayTime)) { case ((z, t), d) =>
      val between = micros(shown(t, z)) - micros(shown(t - d, z))
      holds(MinusTimestamps(z), between, BigInt(t), BigInt(t - d))
    }
  }

  private def near(lengths: Gen[Long]) = lengths.map(_ % (3 * year))

  test("every zone there is: L(t) is what java.time shows, in 100,000 years too") {
    val random = new scala.util.Random(Cases.seed)
    for (id <- ZoneId.getAvailableZoneIds.toArray(Array.empty[String]).toSeq) {
      val z = ZoneId.of(id)
      val far = Seq.fill(40)(random.between(-200 * year, 500 * year)) ++
        Seq.fill(10)(random.between(-100000 * year, 100000 * year))
      val near = far.flatMap(t => Option(z.getRules.nextTransition(instant(t)))).map {
        _.toEpochSecond * second
      }
      for (t <- far ++ near ++ near.map(_ - 1))
        assertEquals(BigInt(WallClock.of(z).local(t)), micros(shown(t, z)), s"$id $t")
    }
  }

  test("no set throws, however wide or far") {
    val ends = Seq(Long.MinValue, Long.MaxValue).map(x => Rational(BigInt(x))) ++
      Seq(Rational(-(BigInt(1) << 80)), Rational(BigInt(1) << 80))
    val sets =
      IntervalSet.All +: IntervalSet.Empty +: (for { a <- ends; b <- ends } yield IntervalSet
        .closed(a, b))
    for {
      z <- zones
      op <- Seq(
        ToLocal(z),
        FromLocal(z),
        MinusTimestamps(z),
        PlusDayTime(z),
        PlusMonthsInZone(z)
      ) ++
        TimeUnit.All.map(TruncateTimestamp(z, _))
      a <- sets
      b <- sets
    } {
      op.forward(Vector(a, b))
      op.backward(a, Vector(b, b), 0)
    }
    assertEquals(ToLocal(berlin).forward(Vector(IntervalSet.All)), IntervalSet.All)
  }

  test("in Berlin, [2026-03-29T00:30Z, 01:30Z] shows [01:30, 03:30]") {
    assertEquals(
      ToLocal(berlin).forward(Vector(closed("2026-03-29T00:30", "2026-03-29T01:30"))),
      closed("2026-03-29T01:30", "2026-03-29T03:30")
    )
  }

  test("in Berlin, [2026-10-25T00:30Z, 01:15Z] shows [02:00, 03:00)") {
    assertEquals(
      ToLocal(berlin).forward(Vector(closed("2026-10-25T00:30", "2026-10-25T01:15"))),
      closed("2026-10-25T02:00", "2026-10-25T02:59:59.999999")
    )
  }

  test("in Berlin, 2026-03-29T02:30 is never shown, and stands for 01:00Z to 01:30Z") {
    val skipped = point(micros("2026-03-29T02:30"))
    assertEquals(ToLocal(berlin).backward(skipped, Vector(IntervalSet.All), 0), IntervalSet.Empty)
    assertEquals(
      FromLocal(berlin).forward(Vector(skipped)),
      closed("2026-03-29T01:00", "2026-03-29T01:30")
    )
  }

  test("away from transitions, an instant is a local time, there and back") {
    val instants = closed("2026-06-01T00:00", "2026-06-02T00:00")
    val locals = closed("2026-06-01T02:00", "2026-06-02T02:00")
    assertEquals(ToLocal(berlin).forward(Vector(instants)), locals)
    assertEquals(ToLocal(berlin).backward(locals, Vector(IntervalSet.All), 0), instants)
    assertEquals(FromLocal(berlin).forward(Vector(locals)), instants)
    assertEquals(FromLocal(berlin).backward(instants, Vector(IntervalSet.All), 0), locals)
  }

  test("Apia had no 2011-12-30: all of it stands for instants from its beginning on") {
    assertEquals(
      FromLocal(apia).forward(Vector(closed("2011-12-30T00:00", "2011-12-30T23:59:59.999999"))),
      closed("2011-12-30T10:00", "2011-12-31T09:59:59.999999")
    )
    assertEquals(
      ToLocal(apia).backward(
        closed("2011-12-30T00:00", "2011-12-30T23:59:59.999999"),
        Vector(IntervalSet.All),
        0
      ),
      IntervalSet.Empty
    )
  }

  test("in Berlin, 2026-03-28T02:30 + 1 day is 03:30, that is 01:30Z") {
    val sum = PlusDayTime(berlin).forward(Vector(point(micros("2026-03-28T01:30")), point(day)))
    assert(sum.contains(Rational(micros("2026-03-29T01:30"))))
    assert(sum.subsetOf(closed("2026-03-29T01:00", "2026-03-29T01:30")), s"$sum")
  }

  test("in Berlin, noon of 2026-03-28 + 1 day is 23 hours later, exactly") {
    assertEquals(
      PlusDayTime(berlin).forward(Vector(point(micros("2026-03-28T11:00")), point(day))),
      point(micros("2026-03-29T10:00"))
    )
  }

  test("hours are the stop watch's everywhere, and days away from transitions") {
    val t = closed("2026-03-28T00:00", "2026-03-29T12:00")
    val plus = PlusDayTime(berlin)
    assertEquals(
      plus.forward(Vector(t, closed(-3 * hour, 5 * hour))),
      closed("2026-03-27T21:00", "2026-03-29T17:00")
    )
    val (june, july) =
      (closed("2026-06-01T00:00", "2026-06-02T00:00"), closed(7 * day, 9 * day + 5))
    val sum = closed("2026-06-08T00:00", "2026-06-11T00:00:00.000005")
    assertEquals(plus.forward(Vector(june, july)), sum)
    assertEquals(
      plus.backward(sum, Vector(june, july), 0),
      closed("2026-05-29T23:59:59.999995", "2026-06-04T00:00:00.000005")
    )
    assertEquals(
      plus.backward(sum, Vector(june, july), 1),
      closed(6 * day, 10 * day + 5)
    )
  }

  test("a range of days over the spring transition is short of one hour below, no more") {
    assertEquals(
      PlusDayTime(berlin)
        .forward(Vector(point(micros("2026-03-01T00:00")), closed(50 * day, 60 * day))),
      closed("2026-04-19T23:00", "2026-04-29T23:00")
    )
  }

  test("in Berlin, 2026-10-25T01:30Z - 00:30Z is 0: both show 02:30") {
    val (a, b) = (micros("2026-10-25T01:30"), micros("2026-10-25T00:30"))
    assertEquals(MinusTimestamps(berlin).forward(Vector(point(a), point(b))), point(0))
    assertEquals(
      MinusTimestamps(berlin).backward(point(0), Vector(IntervalSet.All, point(b)), 0),
      closed(b, a)
    )
  }

  test("clocks go back by an hour in Berlin, by a day in Apia, never in UTC") {
    assertEquals(zones.map(WallClock.isFixed), Seq(true, false, false, false, false, false))
    assertEquals(WallClock.largestBackwardStep(ZoneOffset.UTC), 0L)
    assertEquals(WallClock.largestBackwardStep(ZoneId.of("+05:30")), 0L)
    assertEquals(WallClock.largestBackwardStep(newYork), hour)
    assertEquals(WallClock.largestBackwardStep(apia), day)
  }

  test("truncated local times go back: dates in St. John's, minutes in London") {
    val (before, after) = (micros("2010-11-07T02:30:59.999999"), micros("2010-11-07T02:31"))
    assertEquals(shown(before, stJohns).toLocalDate, LocalDate.of(2010, 11, 7))
    assertEquals(shown(after, stJohns).toLocalDate, LocalDate.of(2010, 11, 6))
    val london = ZoneId.of("Europe/London")
    // 01:59:59 is followed by 01:00:00: another minute, and the same hour.
    assert(WallClock.goesBack(london, TimeUnit.Minute))
    assert(!WallClock.goesBack(london, TimeUnit.Hour))
    assert(!WallClock.goesBack(london, TimeUnit.Day))
    assert(WallClock.goesBack(stJohns, TimeUnit.Day))
    assert(!WallClock.goesBack(ZoneOffset.UTC, TimeUnit.Microsecond))
  }

  test("every zone there is: truncated instants rise where it is not said that they go back") {
    val units = Seq(TimeUnit.Minute -> ChronoUnit.MINUTES, TimeUnit.Hour -> ChronoUnit.HOURS)
    val zones =
      ZoneId.getAvailableZoneIds.toArray(Array.empty[String]).toSeq.map(ZoneId.of(_: String))
    for {
      z <- zones.distinctBy(_.getRules)
      (unit, chrono) <- units :+ (TimeUnit.Day -> ChronoUnit.DAYS)
      if !WallClock.goesBack(z, unit)
      change <- z.getRules.getTransitions.toArray(Array.empty[ZoneOffsetTransition])
    } {
      val around = (-60 to 60).map(n => change.getInstant.plusSeconds(n * 313L))
      val truncated = around.map { instant =>
        val shown = instant.atZone(z)
        if (unit == TimeUnit.Day) shown.toLocalDate.atStartOfDay(z).toInstant
        else shown.truncatedTo(chrono).toInstant
      }
      assertEquals(truncated, truncated.sorted, s"$z $unit $change")
    }
  }

  test("in Montevideo, where clocks skipped from 00:00 to 01:30, truncated hours go back") {
    val montevideo = ZoneId.of("America/Montevideo")
    def hour(instant: String) =
      java.time.Instant.parse(instant).atZone(montevideo).truncatedTo(ChronoUnit.HOURS).toInstant
    assert(hour("1974-01-13T03:01:00Z").isAfter(hour("1974-01-13T03:30:00Z")))
    assert(WallClock.goesBack(montevideo, TimeUnit.Hour))
  }
}
