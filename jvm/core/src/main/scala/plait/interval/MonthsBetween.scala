// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.time.LocalDate
import java.time.temporal.ChronoField

/** How many whole months lie between two local times, to zero (`ChronoUnit.MONTHS.between`): the first
  * argument is the end, the second the start.
  *
  * {{{
  * 2026-03-15 12:00  from  2026-01-15 12:00         2
  * 2026-03-15 11:59  from  2026-01-15 12:00         1
  * 2026-03-01 12:00  from  2026-01-29 23:00         0       28 February is before the 29th
  * 2026-03-01 12:00  from  2026-01-30 00:00         1       a later start, and yet more
  * end from 2026-01-15 ∈ [1, 2]                 ⇒   end in [2026-02-15, 2026-04-15]
  * }}}
  *
  * With `place(d) = 32 * month + day of month` it is `(place(e) - place(s)) / 32`, to zero, where `e`
  * is the end's date, or the day next to it on the side of the start, where its time of day has not
  * come. So it never falls as the end moves on; as the start does it may rise, as above.
  *
  * Conventions:
  *   1. Values are whole microseconds of local time, and whole months.
  *   2. Of points the answer is exact, and so is the one of starts in one day. Backward, all times of
  *      a day are one.
  *   3. Ends further away than a long can hold are dropped.
  */
case object MonthsBetween extends RealOperation {
  private val perDay = TimeUnit.Day.micros

  /** Far more months than any times lie apart; so many are a year that `LocalDate` has. */
  private val farthest = 1L << 32

  def name: String = "months between"

  def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
    both(as(0), as(1), WholeSpan.Limit) { (ends, starts) =>
      WholeSpan.between(
        for { end <- ends.lower; start <- starts.upper } yield Rational(
          if (isOneDay(starts)) between(end, start)
          else math.min(between(end, start), fewest(day(end), day(start) - 1))
        ),
        for { end <- ends.upper; start <- starts.lower } yield Rational(
          if (isOneDay(starts)) between(end, start)
          else math.max(between(end, start), most(day(end), day(start) + 1))
        )
      )
    }

  def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
    both(as(1 - index), result, farthest) { (other, months) =>
      if (index == 0)
        WholeSpan.between(
          for { m <- months.lower; start <- other.lower } yield Rational(firstEnd(m, day(start))),
          for { m <- months.upper; start <- other.upper } yield Rational(lastEnd(m, day(start)))
        )
      else
        WholeSpan.between(
          for { m <- months.upper; end <- other.lower } yield Rational(firstStart(m, day(end))),
          for { m <- months.lower; end <- other.upper } yield Rational(lastStart(m, day(end)))
        )
    }

  private def both(times: IntervalSet, others: IntervalSet, limit: Long)(
      f: (WholeSpan, WholeSpan) => IntervalSet
  ): IntervalSet = WholeSpan.flatMap(times)(x => WholeSpan.flatMap(others, limit)(f(x, _)))

  private def day(local: Long): Long = Math.floorDiv(local, perDay)
  private def timeOfDay(local: Long): Long = Math.floorMod(local, perDay)
  private def isOneDay(locals: WholeSpan): Boolean =
    locals.lower.isDefined && locals.upper.isDefined && day(locals.from) == day(locals.to)

  private def place(day: Long): Long = {
    val date = LocalDate.ofEpochDay(day)
    32 * date.getLong(ChronoField.PROLEPTIC_MONTH) + date.getDayOfMonth
  }

  private def between(end: Long, start: Long): Long = {
    val (to, from) = (day(end), day(start))
    val isEarly = timeOfDay(end) < timeOfDay(start)
    val isLate = timeOfDay(end) > timeOfDay(start)
    val whole = if (to > from && isEarly) to - 1 else if (to < from && isLate) to + 1 else to
    (place(whole) - place(from)) / 32
  }

  /** Whatever the times of day: the least that starts up to this one give, and the most from it on. */
  private def fewest(end: Long, start: Long): Long =
    (place(if (end > start) end - 1 else end) - place(start)) / 32
  private def most(end: Long, start: Long): Long =
    (place(if (end < start) end + 1 else end) - place(start)) / 32

  // A quotient to zero is at least m where what is divided is at least 32 * m for a positive m, and
  // more than 32 * (m - 1) for others. Ends up to the start are counted from the day after.
  private def firstEnd(m: Long, start: Long): BigInt =
    if (m > 0) midnight(onOrAfter(place(start) + 32 * m))
    else midnight(onOrAfter(place(start) + 32 * (m - 1) + 1) - 1)

  private def lastEnd(m: Long, start: Long): BigInt =
    if (m < 0) lastOf(onOrBefore(place(start) + 32 * m))
    else lastOf(onOrBefore(place(start) + 32 * (m + 1) - 1) + 1)

  private def firstStart(m: Long, end: Long): BigInt =
    if (m < 0) midnight(onOrAfter(place(end) - 32 * m))
    else midnight(onOrAfter(place(end - 1) - 32 * (m + 1) + 1))

  private def lastStart(m: Long, end: Long): BigInt =
    if (m > 0) lastOf(onOrBefore(place(end) - 32 * m))
    else lastOf(onOrBefore(place(end + 1) - 32 * (m - 1) - 1))

  private def midnight(day: Long): BigInt = BigInt(day) * perDay
  private def lastOf(day: Long): BigInt = midnight(day + 1) - 1

  /** The first day whose place is not below, and the last whose is not above: no month has all 32. */
  private def onOrAfter(place: Long): Long = {
    val (first, dayOfMonth) = monthOf(place)
    if (dayOfMonth > first.lengthOfMonth) first.plusMonths(1).toEpochDay
    else first.toEpochDay + math.max(dayOfMonth, 1) - 1
  }
  private def onOrBefore(place: Long): Long = {
    val (first, dayOfMonth) = monthOf(place)
    first.toEpochDay + math.min(dayOfMonth, first.lengthOfMonth) - 1
  }

  private def monthOf(place: Long): (LocalDate, Int) = {
    val month = Math.floorDiv(place, 32L)
    val first =
      LocalDate.of(Math.floorDiv(month, 12L).toInt, Math.floorMod(month, 12L).toInt + 1, 1)
    (first, Math.floorMod(place, 32L).toInt)
  }
}
