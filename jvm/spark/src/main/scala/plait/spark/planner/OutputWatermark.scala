// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.Expression

import plait.constraint.{Solver, Term}
import plait.interval._
import plait.order.{Order, Rank}
import plait.spark.translate.ConditionTranslation
import plait.{BySide, Side}

/** What a later output of a join is after, if later rows of both sides are after something.
  *
  * {{{
  * r.ts BETWEEN l.ts AND l.ts + 1 hour        rows of both sides are after 12:00
  *   a left row may wait for a right one      l.ts after 11:00
  *   a right row waits for no left one        r.ts after 12:00        so 11:00
  * }}}
  *
  * A row that comes out in pairs only is in none that the condition rules out. One that comes out alone does so when its
  * wait is over, and what ends its wait may be less than the condition says: [[AloneAt]] tells of that.
  *
  * @param whole
  *   the condition
  * @param kept
  *   the event times of each side that are read of the output
  * @param known
  *   what later rows of a side are known to have after the watermark: its own event times, or what is equal to
  *   the other's
  * @param alone
  *   the sides of which rows come out that found no match
  * @param ends
  *   of those, what ends their wait, if it is known
  */
final class OutputWatermark(
    whole: Term,
    translation: ConditionTranslation,
    kept: BySide[Seq[Expression]],
    known: BySide[Seq[Expression]],
    alone: Seq[Side],
    ends: Side => Option[AloneAt]
) extends (Long => Option[Long]) {
  private val keptTerms: BySide[Seq[Term]] = kept.map(_.map(translation.term))
  private val knownTerms: BySide[Seq[Term]] = known.map(_.map(translation.term))
  private lazy val solver =
    new Solver(whole, Side.both.flatMap(side => keptTerms(side) ++ knownTerms(side)).distinct)

  /** @param watermark
    *   in milliseconds, as the result; None: nothing is known
    */
  def apply(watermark: Long): Option[Long] = {
    val micros = watermark * 1000 + 1
    val least = Side.both.flatMap(side => keptTerms(side).map(leastOf(_, side, micros)))
    // Of event times that nobody reads nothing is to be said.
    if (least.isEmpty) Some(watermark)
    else Option.when(least.forall(_.isDefined))(math.floorDiv(least.flatten.min - 1, 1000L))
  }

  /** The least that a row of `side` has that waits for rows of the other to come, or comes itself. */
  private def leastOf(time: Term, side: Side, micros: Long): Option[Long] =
    (if (alone.contains(side)) ends(side).flatMap(_.least(time, micros))
     else leastInPairs(time, side, micros))
      .map(math.min(_, micros))
      .filter(_ > OutputWatermark.LongAgo)

  private def leastInPairs(time: Term, side: Side, micros: Long): Option[Long] = {
    val state = solver.initial
    for (other <- knownTerms(side.other)) {
      val i = solver.index(other)
      state(i) = state(i).intersect(EventTimes.since(micros))
    }
    if (!solver.narrow(state)) Some(micros)
    else
      state(solver.index(time)).values.lower match {
        case Bound.Unbounded => None
        case bound => Rank.of(time.domain).map(_.low(bound))
      }
  }
}

object OutputWatermark {

  /** The least times of a type are no promise. */
  private val LongAgo = Long.MinValue / 2
}

/** When a row that found no match comes out: with the other side's frontier past the end of its reach, as the join has
  * stored that. The least time of a row that has not come out is looked for by halving: a row waits if
  * one of its time or before may reach the frontier.
  *
  * @param condition
  *   what the end of the reach was made of
  * @param reached
  *   the order of the other side
  * @param frontier
  *   the rank of that order that later rows are not before, if they are after a time in microseconds
  */
final class AloneAt(condition: Term, reached: Order, frontier: Long => Long) {
  private val rank = Rank.of(reached.term.domain)

  def least(time: Term, micros: Long): Option[Long] = {
    val solver = new Solver(condition, Seq(time, reached.term).distinct)
    val at = frontier(micros)
    def isOver(latest: Long): Boolean = {
      val state = solver.initial
      val i = solver.index(time)
      state(i) = state(i).intersect(AloneAt.until(latest))
      !solver.narrow(state) || endOf(state(solver.index(reached.term))) < at
    }
    if (at == Long.MinValue) None
    else if (isOver(micros)) Some(micros)
    else
      steps.map(micros - _).find(isOver).map { over =>
        var (low, high) = (over, micros)
        // Invariant: rows up to `low` have come out, of those up to `high` some may not have.
        while (high - low > 1) {
          val middle = low + (high - low) / 2
          if (isOver(middle)) low = middle else high = middle
        }
        high
      }
  }

  private def endOf(possible: Possible): Long =
    rank.fold(Long.MaxValue)(_.last(possible, reached.direction))

  private def steps = Iterator.iterate(1000000L)(_ * 4).takeWhile(_ < (1L << 60))
}

private object AloneAt {

  /** A time of at most so many microseconds. */
  private def until(micros: Long): Possible = Possible(
    IntervalSet.of(Seq(Interval.Span(Bound.Unbounded, Bound.Closed(Rational(micros))))),
    Specials.None
  )
}
