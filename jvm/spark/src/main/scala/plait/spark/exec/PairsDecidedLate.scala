// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import plait.spark.side.JoinedPairs

/** Pairs of a join of which it is decided when the first is asked for.
  *
  * {{{
  * advance()      both sides are read: few rows share a key, so by bucket; the first pair
  * advance()      the next pair
  * }}}
  *
  * @param decide
  *   reads as much of the inputs as that takes; asked once
  */
final private class PairsDecidedLate(decide: () => JoinedPairs) extends JoinedPairs {
  // Null once it was asked: what it holds is not to be held to the end.
  private var undecided = decide
  private var pairs: JoinedPairs = _

  override def advance(): Boolean = {
    if (undecided != null) {
      pairs = undecided()
      undecided = null
    }
    val isFound = pairs != null && pairs.advance()
    if (isFound) set(pairs.left, pairs.right)
    else {
      // What stands above may live on, and hold nothing that is counted no more.
      set(null, null)
      pairs = null
    }
    isFound
  }
}
