// SPDX-License-Identifier: Apache-2.0
package plait.stream

import plait.order.Saturating

/** For how long the stored rows of a side are remembered, by a time that the caller counts:
  *
  * {{{
  * Lifetime(now = 1000, length = 160)     expired(839), not expired(840)
  * born      830   835   846   999
  * slice      83    83    84    99        of a sixteenth of the length: 10
  * }}}
  *
  * Rows are forgotten by segments, so a segment holds rows of one slice only, and has the time of the
  * youngest. A row is remembered at least for the length, and at most a sixteenth longer, as batches come.
  *
  * Rows that were stored when no time was counted begin to age with the first batch that counts it.
  *
  * @param now
  *   the time of the batch: the same if it is run again, and of a later one not less
  */
final case class Lifetime(now: Long, length: Long) {

  /** Whether anything is ever forgotten. */
  def isCounted: Boolean = now != Lifetime.Timeless

  private val slice = math.max(1L, length / Lifetime.Slices)

  def isExpired(born: Long): Boolean = isCounted && born < Saturating.addDown(now, -length)

  def sliceOf(born: Long): Long = Math.floorDiv(born, slice)
}

object Lifetime {
  private val Slices = 16

  /** When rows were stored of which nobody counts the time. */
  val Timeless: Long = Long.MaxValue

  /** They are remembered for ever. */
  val Endless: Lifetime = Lifetime(Timeless, Long.MaxValue)
}
