// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

/** Stretches merged: of all rows at hand the one of the least rank comes next.
  *
  * {{{
  * 1 2 3 | 2 9 | 7 8         1 2 2 3 7 8 9
  * }}}
  *
  * A tree of losers: each inner node has the stretch that lost there, so the next row is found among n stretches in
  * log n comparisons, one a level. At first, of those with equal ranks the first is the winner.
  *
  * {{{
  *             winner 1            of the stretches 0 .. 3, at hand 5 1 7 2
  *            loser 3 (2)
  *    loser 0 (5)     loser 2 (7)
  * }}}
  */
final private[side] class StretchMerge(stretches: Array[RankedStretch]) {
  // Those that are not over.
  private var live = stretches.filterNot(_.isOver)
  private val losers = new Array[Int](live.length)
  private val ranks = new Array[Long](live.length)
  private var winner = 0
  private var first: RankedStretch = _
  build()

  /** The stretch whose row is the next, or null. */
  def head: RankedStretch = first

  /** The row of [[head]] has been taken. */
  def advance(): Unit = {
    val stretch = first
    stretch.advance()
    if (!stretch.isOver) replay(stretch.rank)
    else {
      live = live.filterNot(_ eq stretch)
      build()
    }
  }

  /** The winner's row has this rank now. */
  private def replay(rank: Long): Unit = {
    var best = winner
    var least = rank
    var node = (best + live.length) >> 1
    // Invariant: `best` is the least below `node`, and of the nodes below it each has who lost there.
    while (node > 0) {
      val other = ranks(node)
      if (other < least) {
        val loser = best
        best = losers(node)
        losers(node) = loser
        ranks(node) = least
        least = other
      }
      node >>= 1
    }
    if (best != winner) {
      winner = best
      first = live(best)
    }
  }

  /** Leaf n of the tree is at `live.length + n`, and the node above `i` at `i / 2`. */
  private def build(): Unit = if (live.length == 0) first = null
  else {
    val n = live.length
    val winners = new Array[Int](2 * n)
    for (i <- 0 until n) winners(n + i) = i
    // Invariant: the nodes after `node` have who won and who lost there.
    for (node <- n - 1 until 0 by -1) {
      val (a, b) = (winners(2 * node), winners(2 * node + 1))
      val isFirst = live(a).rank < live(b).rank || (live(a).rank == live(b).rank && a < b)
      winners(node) = if (isFirst) a else b
      losers(node) = if (isFirst) b else a
      ranks(node) = live(losers(node)).rank
    }
    winner = winners(1)
    first = live(winner)
  }
}
