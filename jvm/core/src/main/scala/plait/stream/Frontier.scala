// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** How far one side of a join of streams has come, as a rank: no later row has a lower one.
  *
  * {{{
  * at(1005)     later rows have ranks of at least 1005
  * Over         no row comes any more: nor one of the greatest rank, nor one without a rank
  * }}}
  */
object Frontier {
  val Over: Long = Long.MaxValue

  /** Nothing is known of it. */
  val Unknown: Long = Long.MinValue

  /** A side that has come to the greatest rank is not over. */
  def at(rank: Long): Long = math.min(rank, Over - 1)
}
