// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.time.zone.ZoneOffsetTransition
import java.time.{Instant, ZoneId}
import java.util.Arrays

import scala.jdk.CollectionConverters._

/** When the clocks of a zone are moved, ever: `offset(0), at(0), offset(1), at(1), offset(2) ...`, in
  * microseconds.
  *
  * {{{
  * Europe/Berlin    offset(0) = 0:53:28   at(0) = 1893-03-31T23:06:32Z   offset(1) = 1:00 ...
  *                  ... 1:00   2026-03-29T01:00Z   2:00   2026-10-25T01:00Z   1:00 ...
  * }}}
  *
  * Conventions:
  *   1. `offset(i)` is in force from `at(i - 1)` up to `at(i)`, which is out. `at(-1)` is the first
  *      long; after the last transition `at` is the last one.
  *   2. Rules such as "the last Sunday of March" go on for ever. The calendar repeats itself, the
  *      days of the week too, after 400 years of 146,097 days: the table ends with one such cycle.
  */
final private[interval] class Transitions private (
    times: Array[Long],
    offsets: Array[Long],
    cycle: Int
) {
  private val beforeCycle = times.length - cycle

  /** The last transition that no rule repeats: from it on a round is like the one before. */
  private val start = if (cycle == 0) Long.MaxValue else times(beforeCycle - 1)

  def isEmpty: Boolean = times.isEmpty
  val least: Long = offsets.min
  val greatest: Long = offsets.max

  def at(i: Int): Long =
    if (i < 0) Long.MinValue
    else if (i < times.length) times(i)
    else if (cycle == 0) Long.MaxValue
    else times(folded(i)) + rounds(i) * Transitions.Period

  def offset(i: Int): Long =
    if (i < offsets.length) offsets(i)
    else if (cycle == 0) offsets.last
    else offsets(folded(i - 1) + 1)

  /** How many transitions there are up to and at an instant, so that `offset(count(t))` is in force.
    */
  def count(instant: Long): Int =
    if (instant < start) counted(instant)
    else {
      val round = (instant - start) / Transitions.Period
      counted(instant - round * Transitions.Period) + (round * cycle).toInt
    }

  /** One round of the table: what all questions about "ever" need to look at. */
  def indices: Range = times.indices

  private def counted(instant: Long): Int = {
    val found = Arrays.binarySearch(times, instant)
    if (found >= 0) found + 1 else -found - 1
  }

  private def folded(i: Int): Int = beforeCycle + (i - beforeCycle) % cycle
  private def rounds(i: Int): Long = ((i - beforeCycle) / cycle).toLong
}

private[interval] object Transitions {

  /** 400 years. */
  val Period: Long = 146097L * TimeUnit.Day.micros

  def of(zone: ZoneId): Transitions = {
    val rules = zone.getRules
    val irregular = rules.getTransitions.asScala.toVector
    val regular =
      if (irregular.isEmpty || rules.getTransitionRules.isEmpty) Vector.empty
      else {
        val end = micros(irregular.last) + Period
        Iterator
          .iterate(rules.nextTransition(irregular.last.getInstant))(t =>
            rules.nextTransition(t.getInstant)
          )
          .takeWhile(micros(_) <= end)
          .toVector
      }
    val all = irregular ++ regular
    val first =
      all.headOption.map(_.getOffsetBefore).getOrElse(rules.getOffset(Instant.EPOCH))
    new Transitions(
      all.map(micros).toArray,
      (first +: all.map(_.getOffsetAfter)).map(_.getTotalSeconds * TimeUnit.Second.micros).toArray,
      regular.size
    )
  }

  private def micros(transition: ZoneOffsetTransition): Long =
    transition.toEpochSecond * TimeUnit.Second.micros
}
