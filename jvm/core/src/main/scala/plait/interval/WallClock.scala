// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.time.ZoneId
import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec

/** Instants and what the clocks on the walls of a zone show then: `L(t) = t + offset(t)`, both in
  * microseconds, and what `L` and its inverse do to sets.
  *
  * {{{
  * Europe/Berlin, 2026, offsets of 1:00, of 2:00 from 29 March 01:00Z to 25 October 01:00Z
  * locals  [29 March 00:30Z, 01:30Z]           [29 March 01:30, 03:30]
  * locals  [25 October 00:30Z, 01:15Z]         [25 October 02:00, 03:00)    02:15 is less than 02:30
  * instants showing [25 October 02:30, 02:30]  [25 October 00:30Z, 01:30Z]
  * instants showing [29 March 02:30, 02:30]    {}
  * instants for     [29 March 02:30, 02:30]    [29 March 01:00Z, 01:30Z]
  * }}}
  *
  * Conventions:
  *   1. Values are whole microseconds.
  *   2. A local time that is shown twice *stands for* both instants. One that the clocks skip stands
  *      for the transition, and for the instant that it would be had the clocks not been moved:
  *      whoever resolves local times chooses one of these.
  *   3. Only transitions near an end can matter, so that no answer takes longer for wide sets. Near
  *      is what the offsets of the zone allow, from the least to the greatest one ever.
  *
  * All answers are supersets. [[locals]] and [[instantsFor]] are the hulls; [[instantsShowing]] is,
  * but where clocks are moved twice within hours.
  */
final class WallClock private (transitions: Transitions) {
  import transitions.{at, count, greatest, least, offset}

  private val spread = greatest - least

  def isFixed: Boolean = transitions.isEmpty

  def local(instant: Long): Long = instant + offset(count(instant))

  private val backwardSteps: Seq[Long] = transitions.indices.map(i => offset(i) - offset(i + 1))

  /** The most that the clocks are ever put back at once; 0 if they never are. */
  val largestBackwardStep: Long = (0L +: backwardSteps).max

  /** Is there an instant after which the local time, truncated, is earlier than before?
    *
    * Where clocks are put back, or where they skip the beginning of the unit that they go on in: that is moved on by as much
    * as they were, which may be past the next unit's. America/Montevideo, 1974-01-13, from 00:00 to 01:30:
    * `HOUR` makes 02:30 of 01:31, and 02:00 of 02:00.
    */
  def goesBack(unit: TimeUnit): Boolean = transitions.indices.exists { i =>
    val (before, after) = (at(i) + offset(i), at(i) + offset(i + 1))
    val first = unit.first(after)
    val isSkipped = before < first && first < after
    unit.first(before - 1) > first || (isSkipped && unit.first(first + after - before - 1) > first)
  }

  /** `{ L(t) : t in A }` */
  def locals(instants: IntervalSet): IntervalSet = mapped(instants)(leastLocal, greatestLocal)

  /** `{ t : L(t) in R }` */
  def instantsShowing(locals: IntervalSet): IntervalSet =
    mapped(locals)((from, _) => earliest(from), (_, to) => latest(to))

  /** The instants that these local times stand for. */
  def instantsFor(locals: IntervalSet): IntervalSet =
    mapped(locals)(
      (from, _) => earliest(from),
      (from, to) => {
        val last = latest(to)
        gaps(last - spread, to - least).foldLeft(last) { (latest, i) =>
          val until = at(i) + offset(i + 1)
          if (at(i) + offset(i) > to || until <= from) latest
          else math.max(latest, math.min(to, until - 1) - offset(i))
        }
      }
    )

  /** The local times that stand for these instants. */
  def localsFor(instants: IntervalSet): IntervalSet =
    mapped(instants)(
      (from, to) =>
        unmoved(from - spread, math.min(to, from + spread), from)
          .map(i => math.max(from, at(i)) + offset(i))
          .foldLeft(leastLocal(from, to))(math.min),
      (from, to) =>
        unmoved(math.max(from, to - spread) - spread, to, from)
          .map(i => math.min(to, lastUnmoved(i)) + offset(i))
          .foldLeft(greatestLocal(from, to))(math.max)
    )

  /** As [[instantsFor]], for local times up to a day after the ones that were resolved: the offset is
    * one that was in force within a day.
    */
  def instantsWithinDay(locals: IntervalSet): IntervalSet = mapped(locals)(
    (from, _) => from - around(from - greatest, from - least).max,
    (_, to) => to - around(to - greatest, to - least).min
  )

  /** The inverse of [[instantsWithinDay]]. */
  def localsWithinDay(instants: IntervalSet): IntervalSet = mapped(instants)(
    (from, _) => from + around(from, from).min,
    (_, to) => to + around(to, to).max
  )

  /** The offsets in force within a day of these instants. What is further from an end than the spread
    * of the offsets cannot pass it; a skipped time has an offset from before its transition.
    */
  private def around(from: Long, to: Long): Seq[Long] =
    (count(from - day - 2 * spread) to count(to + day + spread)).map(offset)

  private def day = TimeUnit.Day.micros

  private def mapped(set: IntervalSet)(
      low: (Long, Long) => Long,
      high: (Long, Long) => Long
  ): IntervalSet =
    WholeSpan.flatMap(set) { span =>
      span.mapEnds(a => Rational(low(a, span.to)), b => Rational(high(span.from, b)))
    }

  /** The transitions after one instant, up to another. */
  private def between(after: Long, to: Long): Range = count(after) until count(to)

  private def leastLocal(from: Long, to: Long): Long =
    between(from, math.min(to, from + spread))
      .foldLeft(local(from))((least, i) => math.min(least, at(i) + offset(i + 1)))

  private def greatestLocal(from: Long, to: Long): Long =
    between(math.max(from, to - spread), to)
      .foldLeft(local(to))((greatest, i) => math.max(greatest, at(i) - 1 + offset(i)))

  private def gaps(after: Long, to: Long): Seq[Int] =
    between(after, to).filter(i => offset(i) < offset(i + 1))

  /** The last instant that a time skipped by a transition stands for. */
  private def lastUnmoved(i: Int): Long = at(i) + offset(i + 1) - offset(i) - 1

  /** The gaps whose skipped times stand for instants from `from` on. */
  private def unmoved(after: Long, to: Long, from: Long): Seq[Int] =
    gaps(after, to).filter(lastUnmoved(_) >= from)

  /** The first `t` with `L(t) >= x`. */
  private def earliest(x: Long): Long = {
    @tailrec def from(i: Int): Long = {
      val t = math.max(at(i - 1), x - offset(i))
      if (t < at(i)) t else from(i + 1)
    }
    from(count(x - greatest))
  }

  /** The last `t` with `L(t) <= x`. */
  private def latest(x: Long): Long = {
    @tailrec def from(i: Int): Long = {
      val t = math.min(at(i) - 1, x - offset(i))
      if (t >= at(i - 1)) t else from(i - 1)
    }
    from(count(x - least))
  }
}

object WallClock {
  private val known = new ConcurrentHashMap[ZoneId, WallClock]

  def of(zone: ZoneId): WallClock = {
    val found = known.get(zone)
    if (found != null) found
    else known.computeIfAbsent(zone, z => new WallClock(Transitions.of(z)))
  }

  def isFixed(zone: ZoneId): Boolean = of(zone).isFixed
  def largestBackwardStep(zone: ZoneId): Long = of(zone).largestBackwardStep
  def goesBack(zone: ZoneId, unit: TimeUnit): Boolean = of(zone).goesBack(unit)
}
