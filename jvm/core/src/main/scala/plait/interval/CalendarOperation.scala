// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.time.LocalDate
import java.time.temporal.ChronoField

/** Months added to dates, dates truncated to weeks, months, quarters and years, and the year of a date.
  *
  * {{{
  * [2026-01-30, 2026-02-02] + 1 month           [2026-02-28, 2026-03-02]
  * d + 1 month ∈ [2026-02-28, 2026-02-28]   ⇒   d ∈ [2026-01-28, 2026-01-31]
  * 2026-01-31 + m ∈ [2026-02-28, 2026-04-29]   ⇒   m ∈ [1, 2]
  * month of [2026-01-30, 2026-02-02]            [2026-01-01, 2026-02-01]
  * d in a month from [2026-01-02, 2026-02-02]   ⇒   d ∈ [2026-02-01, 2026-02-28]
  * year of d ∈ [2026, 2026]   ⇒   d ∈ [2026-01-01, 2026-12-31]
  * }}}
  *
  * `perDay` says how many units of the line make a day: 1 for dates; for local times 86,400,000,000.
  * Months do not change the time of day, truncation makes it midnight.
  *
  * Conventions:
  *   1. Values are whole numbers: days, or microseconds, and months.
  *   2. Of a month that is too short the last day is taken (`LocalDate.plusMonths`). So dates that
  *      differ may become one, and later local times earlier: 30 January 23:00 and 31 January 01:00
  *      give 28 February 23:00 and 01:00.
  *   3. Ends further away than a type can hold are dropped.
  */
object CalendarOperation {

  /** Far more days, and months, than any type holds; both together are a year that `LocalDate` has.
    */
  private val farthest = 1L << 33

  private def limit(perDay: Long): Long =
    if (farthest > WholeSpan.Limit / perDay) WholeSpan.Limit else farthest * perDay

  /** A date, or a local time, plus months. */
  final case class PlusMonths(perDay: Long = 1) extends RealOperation {
    def name: String = "add_months"

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      both(as(0), as(1)) { (a, m) =>
        WholeSpan.between(
          for { _ <- a.lower; months <- m.lower } yield Rational(least(a, months)),
          for { _ <- a.upper; months <- m.upper } yield Rational(greatest(a, months))
        )
      }

    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      both(result, as(1 - index)) { (r, other) =>
        if (index == 0)
          // A larger number of months needs an earlier date.
          WholeSpan.between(
            for { x <- r.lower; months <- other.upper } yield Rational(first(x, months)),
            for { x <- r.upper; months <- other.lower } yield Rational(last(x, months))
          )
        else
          WholeSpan.between(
            for { x <- r.lower; a <- other.upper } yield {
              val same = month(x) - month(a)
              Rational(if (greatest(other, same) >= x) same else same + 1)
            },
            for { x <- r.upper; a <- other.lower } yield {
              val same = month(x) - month(a)
              Rational(if (least(other, same) <= x) same else same - 1)
            }
          )
      }

    private def both(a: IntervalSet, b: IntervalSet)(
        f: (WholeSpan, WholeSpan) => IntervalSet
    ): IntervalSet =
      WholeSpan.flatMap(a, limit(perDay)) { x =>
        WholeSpan.flatMap(b, limit(1))(f(x, _))
      }

    private def date(x: Long): LocalDate = LocalDate.ofEpochDay(Math.floorDiv(x, perDay))
    private def timeOfDay(x: Long): Long = Math.floorMod(x, perDay)
    private def month(x: Long): Long = date(x).getLong(ChronoField.PROLEPTIC_MONTH)
    private def at(date: LocalDate, time: Long): BigInt = BigInt(date.toEpochDay) * perDay + time

    /** The least of `x + months`: of days that become one the second may come first. */
    private def least(xs: WholeSpan, months: Long): BigInt = {
      val day = date(xs.from)
      val shifted = day.plusMonths(months)
      val hasNext = nextDay(xs.from) <= xs.to
      if (hasNext && day.plusDays(1).plusMonths(months) == shifted) at(shifted, 0)
      else at(shifted, timeOfDay(xs.from))
    }

    private def greatest(xs: WholeSpan, months: Long): BigInt = {
      val day = date(xs.to)
      val shifted = day.plusMonths(months)
      val hasPrevious = xs.from < xs.to - timeOfDay(xs.to)
      if (hasPrevious && day.minusDays(1).plusMonths(months) == shifted) at(shifted, perDay - 1)
      else at(shifted, timeOfDay(xs.to))
    }

    private def nextDay(x: Long): Long = x - timeOfDay(x) + perDay

    /** The first `a` with `a + months >= x`. */
    private def first(x: Long, months: Long): BigInt = {
      val day = date(x)
      val same = day.minusMonths(months)
      if (same.getDayOfMonth == day.getDayOfMonth) at(same, timeOfDay(x))
      else at(same.plusDays(1), 0) // the month is too short, and the next one begins
    }

    /** The last `a` with `a + months <= x`. */
    private def last(x: Long, months: Long): BigInt = {
      val day = date(x)
      val same = day.minusMonths(months)
      val isLast = day.getDayOfMonth == day.lengthOfMonth
      if (isLast && same.lengthOfMonth >= day.lengthOfMonth)
        at(same.withDayOfMonth(same.lengthOfMonth), timeOfDay(x))
      else if (same.getDayOfMonth == day.getDayOfMonth) at(same, timeOfDay(x))
      else at(same, perDay - 1) // the month is too short: all of it is before
    }
  }

  /** The first day of the week, month, quarter or year; its midnight. */
  final case class TruncateDate(unit: TimeUnit.OfDays, perDay: Long = 1) extends RealOperation {
    def name: String = s"trunc to $unit"

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      WholeSpan.flatMap(as(0), limit(perDay)) {
        _.mapEnds(a => start(unit.firstDay(day(a))), b => start(unit.firstDay(day(b))))
      }

    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      WholeSpan.flatMap(result, limit(perDay)) {
        _.mapEnds(
          a => {
            val first = unit.firstDay(day(a))
            if (start(first) == Rational(a)) Rational(a) else start(unit.next(first))
          },
          b => start(unit.next(unit.firstDay(day(b)))) - Rational.One
        )
      }

    private def day(x: Long): Long = Math.floorDiv(x, perDay)
    private def start(day: Long): Rational = Rational(BigInt(day) * perDay)
  }

  /** The year of a date. */
  case object YearOf extends RealOperation {
    def name: String = "year"

    /** `LocalDate` has more. */
    private val farthestYear = 900000000L

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      WholeSpan.flatMap(as(0), limit(1))(_.mapEnds(year, year))

    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      WholeSpan.flatMap(result, farthestYear)(
        _.mapEnds(firstDay, y => firstDay(y + 1) - Rational.One)
      )

    private def year(day: Long) = Rational(LocalDate.ofEpochDay(day).getYear.toLong)
    private def firstDay(year: Long) = Rational(LocalDate.of(year.toInt, 1, 1).toEpochDay)
  }

  /** As another operation of one argument from a day or an instant on.
    *
    * @param early
    *   what becomes of earlier ones
    */
  final case class From(
      first: Rational,
      operation: RealOperation,
      early: IntervalSet = IntervalSet.All
  ) extends RealOperation {
    private val earlier = IntervalSet.below(first)
    private val later = IntervalSet.atLeast(first)
    def name: String = operation.name

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      if (as(0).meets(earlier)) operation.forward(Vector(as(0).intersect(later))).union(early)
      else operation.forward(as)

    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (result.isEmpty) result
      else {
        val sure = operation.backward(result, as, index).intersect(later)
        if (result.meets(early)) sure.union(earlier) else sure
      }
  }
}
