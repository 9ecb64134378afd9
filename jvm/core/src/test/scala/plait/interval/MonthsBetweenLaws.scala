// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for tightness.
package plait.interval

import java.time.temporal.ChronoUnit

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.Clocks._

class MonthsBetweenLaws extends LawSuite {
  private def months(end: Long, start: Long): Long =
    ChronoUnit.MONTHS.between(local(start), local(end))

  /** So many months from another time, but for some hours or days. */
  private val pair: Gen[(Long, Long)] = for {
    start <- locals(berlin)
    months <- Gen.oneOf(Gen.choose(-15L, 15L), Gen.choose(-3000L, 3000L))
    days <- Gen.choose(-3L, 3L)
    off <- Gen.oneOf(Gen.const(0L), Gen.oneOf(-1L, 1L), Gen.choose(-day, day))
  } yield (micros(local(start).plusMonths(months)).toLong + days * day + off, start)

  private val days: Gen[Long] = Gen.oneOf(Gen.choose(0L, 40 * day), length)

  property("months between two local times") {
    forAllNoShrink(pair) { case (end, start) =>
      keepsLaws(MonthsBetween, months(end, start), Gen.choose(0L, 30L))(
        BigInt(end) -> days,
        BigInt(start) -> days
      )
    }
  }

  property("of two points, and of starts in one day, exactly what is between") {
    forAllNoShrink(pair) { case (end, start) =>
      val last = Math.floorDiv(start, day) * day + day - 1
      val found = MonthsBetween.forward(Vector(point(end), closed(start, last)))
      MonthsBetween.forward(Vector(point(end), point(start))) == point(months(end, start)) &&
      found == closed(months(end, last), months(end, start))
    }
  }

  private val of15January = Vector(IntervalSet.All, point(micros("2026-01-15T12:00")))

  test("one or two months from 15 January: 15 February to 15 April, both days whole") {
    assertEquals(
      MonthsBetween.backward(closed(1, 2), of15January, 0),
      closed("2026-02-15T00:00", "2026-04-15T23:59:59.999999")
    )
  }

  test("no month from 15 January: 15 December to 15 February") {
    assertEquals(
      MonthsBetween.backward(point(0), of15January, 0),
      closed("2025-12-15T00:00", "2026-02-15T23:59:59.999999")
    )
  }

  test("a month or more from 30 January: from 1 March on, as February has no 30th") {
    val of30January = Vector(IntervalSet.All, point(micros("2026-01-30T00:00")))
    assertEquals(
      MonthsBetween.backward(IntervalSet.atLeast(Rational.One), of30January, 0),
      IntervalSet.atLeast(Rational(micros("2026-03-01T00:00")))
    )
    assertEquals(
      MonthsBetween.forward(Vector(point(micros("2026-03-01T00:00")), of30January(1))),
      point(1)
    )
  }

  test("a start in [29 January 23:00, 30 January 00:00] gives 0 and 1 months to 1 March 12:00") {
    val starts = closed("2026-01-29T23:00", "2026-01-30T00:00")
    val end = point(micros("2026-03-01T12:00"))
    assertEquals(MonthsBetween.forward(Vector(end, starts)), closed(0, 1))
  }

  test("ends that no date has are dropped") {
    val far = Rational(BigInt(1) << 70)
    for (set <- Seq(IntervalSet.All, IntervalSet.point(far), IntervalSet.point(-far))) {
      assert(MonthsBetween.forward(Vector(set, set)).nonEmpty)
      for (i <- 0 to 1) assert(MonthsBetween.backward(set, Vector(set, set), i).nonEmpty)
    }
  }
}
