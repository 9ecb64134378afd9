// SPDX-License-Identifier: Apache-2.0
package plait.stream

import plait.order.Saturating

/** The greatest rank of the rows of one side in a batch.
  *
  * {{{
  * ranks 1004, 1010, 1007      1010, 10 ahead of a frontier of 1000, 0 ahead of one of 1010 or 1020
  * }}}
  */
final private[stream] class Newest {
  private var greatest = Long.MinValue

  def add(rank: Long): Unit = greatest = math.max(greatest, rank)

  def rank: Long = greatest

  /** How far it is ahead of what the side promises; 0 where it promises nothing, or that no row comes any more. */
  def aheadOf(frontier: Long): Long =
    if (frontier == Frontier.Unknown || greatest <= frontier) 0L
    else Saturating.distance(frontier, greatest)
}
