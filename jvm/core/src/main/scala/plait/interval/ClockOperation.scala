// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.time.ZoneId

import plait.interval.RealOperation._
import plait.interval.TimeUnit.{Day, Even, Minute, OfDays}

/** What is done with instants by the clocks of a zone; `L` shows the local time, `F` gives the
  * instants that a local time stands for (see [[WallClock]]).
  *
  * {{{
  * to local             L(t)
  * from local           F(l)
  * t + i, day-time      F(L(t) + days of i) + rest of i      the days are to zero, the rest has i's sign
  * t + m, months        F(L(t) + m)
  * a - b                L(a) - L(b)
  * truncation           F(first of L(t))                     of t itself for less than a minute
  *
  * Europe/Berlin        28 March 2026 02:30 + 1 day = 29 March 03:30, as 02:30 is skipped
  *                      25 October 2026 01:30Z - 00:30Z = 0: both are 02:30
  * }}}
  *
  * Conventions:
  *   1. Values are whole: microseconds since 1970-01-01T00:00Z, or since that midnight for local
  *      times, and months.
  *   2. `F` has more than one instant near transitions. Whatever way a local time is resolved, it is
  *      among them.
  *   3. Each operation is made of parts. Away from transitions the sets are the hulls.
  */
object ClockOperation {

  sealed trait Clocked extends RealOperation {
    def zone: ZoneId
    @transient final protected lazy val clock: WallClock = WallClock.of(zone)
  }

  /** What the clocks show at an instant. Not monotone: clocks are put back. */
  final case class ToLocal(zone: ZoneId) extends Clocked {
    def name: String = s"to local $zone"
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = clock.locals(as(0))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      clock.instantsShowing(result)
  }

  /** An instant that a local time stands for. */
  final case class FromLocal(zone: ZoneId) extends Clocked {
    def name: String = s"from local $zone"
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = clock.instantsFor(as(0))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      clock.localsFor(result)
  }

  /** The time between what the clocks show at two instants. */
  final case class MinusTimestamps(zone: ZoneId) extends Clocked {
    def name: String = "-"
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      difference(clock.locals(as(0)), clock.locals(as(1)))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet = {
      val other = clock.locals(as(1 - index))
      clock.instantsShowing(if (index == 0) sum(result, other) else difference(other, result))
    }
  }

  /** An instant and a day-time interval: days by the calendar, then the rest by the stop watch.
    *
    * Where all intervals have the same number of days, the parts are put together one by one; where
    * not, `t + i = L(t) + i - offset` with an offset that is in force within a day.
    */
  final case class PlusDayTime(zone: ZoneId) extends Clocked {
    def name: String = "+"

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = split(as(1)) {
      case (interval, Some(days)) if days == none => sum(as(0), interval)
      case (interval, Some(days)) =>
        val moved = clock.instantsFor(sum(clock.locals(as(0)), days))
        sum(moved, difference(interval, days))
      case (interval, None) => clock.instantsWithinDay(sum(clock.locals(as(0)), interval))
    }

    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (index == 1) difference(clock.localsWithinDay(result), clock.locals(as(0)))
      else
        split(as(1)) {
          case (interval, Some(days)) if days == none => difference(result, interval)
          case (interval, Some(days)) =>
            val moved = difference(result, difference(interval, days))
            clock.instantsShowing(difference(clock.localsFor(moved), days))
          case (interval, None) =>
            clock.instantsShowing(difference(clock.localsWithinDay(result), interval))
        }

    /** Each interval with its days, in microseconds, if all in it have the same. */
    private def split(intervals: IntervalSet)(
        f: ((IntervalSet, Option[IntervalSet])) => IntervalSet
    ): IntervalSet =
      Domain.Integer.tighten(intervals).flatMap { span =>
        val interval = IntervalSet.span(span.lower, span.upper)
        f((interval, Some(toZero.forward(Vector(interval))).filter(_.single.isDefined)))
      }

    private def toZero = StepOperation.ToZero(Rational(Day.micros))
    private def none = IntervalSet.point(Rational.Zero)
  }

  /** An instant and months: the time on the clocks stays, as far as it can. */
  final case class PlusMonthsInZone(zone: ZoneId) extends Clocked {
    def name: String = "add_months"
    private val plus = CalendarOperation.PlusMonths(Day.micros)
    private def local(as: IndexedSeq[IntervalSet]) = Vector(clock.locals(as(0)), as(1))

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      clock.instantsFor(plus.forward(local(as)))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet = {
      val locals = plus.backward(clock.localsFor(result), local(as), index)
      if (index == 0) clock.instantsShowing(locals) else locals
    }
  }

  /** The instant with which the local unit begins. */
  final case class TruncateTimestamp(zone: ZoneId, unit: TimeUnit) extends Clocked {
    def name: String = s"date_trunc $unit"

    private val truncate: RealOperation = unit match {
      case even: Even => StepOperation.Floor(Rational(even.micros))
      case days: OfDays => CalendarOperation.TruncateDate(days, Day.micros)
    }

    /** Offsets are whole seconds: what is shorter is the same everywhere. */
    private val isLocal: Boolean = unit match {
      case even: Even => even.micros >= Minute.micros
      case _: OfDays => true
    }

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      if (!isLocal) truncate.forward(whole(as))
      else clock.instantsFor(truncate.forward(Vector(clock.locals(as(0)))))

    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (!isLocal) truncate.backward(result, as, index)
      else clock.instantsShowing(truncate.backward(clock.localsFor(result), as, index))

    private def whole(as: IndexedSeq[IntervalSet]) = as.map(Domain.Integer.tighten)
  }
}
