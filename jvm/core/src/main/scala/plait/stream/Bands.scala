// SPDX-License-Identifier: Apache-2.0
package plait.stream

import plait.order.Saturating

/** Rows by when they will leave: the ends of their reach, cut at distances from the frontier that grow fourfold.
  *
  * {{{
  * frontier 100, 10 ahead of the last batch's
  * band    0          1            2             3             ...     16
  * ends    .. 99      100 .. 109   110 .. 139    140 .. 259            none
  * }}}
  *
  * Rows of one band lie together. Those of band 0 leave with this batch, those of band 1 with the next, and of the
  * others none does before the frontier has come as far as a third of the band is wide. Then what is left of them is
  * cut again, by the frontier as it is by then: so a row is written anew a few times, and cleaning reads little more
  * than it removes, in whatever sequence rows come.
  *
  * Where the frontier stands still, a batch is taken to move it a 4096th of the way to the farthest end.
  *
  * Not promised: that the next batch moves the frontier as far as this one. Bands are guesses and change no result.
  */
final class Bands private (begins: Array[Long]) {

  /** Whether there is a frontier, and it is known how far a batch moves it. */
  def areKnown: Boolean = begins.nonEmpty

  def of(end: Long): Int =
    if (!areKnown) 0
    else if (end == Long.MaxValue) Bands.Endless
    else {
      var band = 0
      // Invariant: bands before `band` end below `end`.
      while (band < begins.length && end >= begins(band)) band += 1
      band
    }
}

object Bands {
  // So that the last but one is hundreds of millions of batches away.
  private val Finite = 16
  private val Endless = Finite
  private val Growth = 4L
  private val StepsToFarthest = 4096

  /** How many there are. */
  val Count: Int = Finite + 1

  /** One band for all. */
  val Unknown: Bands = new Bands(Array.emptyLongArray)

  /** A batch moves the frontier so far.
    * @param farthest
    *   the last end that a row has, of those that have any
    */
  def between(before: Long, after: Long, farthest: Option[Long]): Bands = {
    val frontier = math.max(before, after)
    if (frontier == Frontier.Unknown || frontier == Frontier.Over) Unknown
    else if (before != Frontier.Unknown && after > before)
      from(frontier, Saturating.distance(before, after))
    else
      farthest.filter(_ > frontier).fold(Unknown) { end =>
        from(frontier, math.max(1, Saturating.distance(frontier, end) / StepsToFarthest))
      }
  }

  private def from(frontier: Long, step: Long): Bands = new Bands(
    frontier +: Array
      .iterate(step, Finite - 2)(Saturating.times(_, Growth))
      .map(Saturating.addUp(frontier, _))
  )
}
