// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import plait.spark.side.JoinedPairs

/** Pairs of one join after the other.
  *
  * @param joins
  *   each begins when it is asked for
  */
final private class PairsInTurn(joins: Iterator[JoinedPairs]) extends JoinedPairs {
  private var pairs: JoinedPairs = _

  override def advance(): Boolean = {
    var isFound = pairs != null && pairs.advance()
    // Invariant: the joins before `pairs` were given.
    while (!isFound && hasAnother) {
      pairs = joins.next()
      isFound = pairs.advance()
    }
    if (isFound) set(pairs.left, pairs.right)
    isFound
  }

  private def hasAnother: Boolean = {
    // What stands above may live on, and hold no index that is counted no more.
    pairs = null
    joins.hasNext
  }
}
