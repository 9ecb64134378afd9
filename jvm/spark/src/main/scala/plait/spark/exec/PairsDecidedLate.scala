// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import plait.spark.side.JoinedPairs

/** Pairs of a join of which it is decided when the first is asked for.
  *
  * @param decide
  *   reads as much of the inputs as that takes; asked once
  */
final private class PairsDecidedLate(decide: () => JoinedPairs) extends JoinedPairs {
  private var isDecided = false
  private var pairs: JoinedPairs = _

  override def advance(): Boolean = {
    if (!isDecided) {
      isDecided = true
      pairs = decide()
    }
    val isFound = pairs != null && pairs.advance()
    if (isFound) set(pairs.left, pairs.right)
    // What stands above may live on, and hold no index that is counted no more.
    else pairs = null
    isFound
  }
}
