// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import plait.spark.side.JoinedPairs

/** Pairs of one join after the other.
  *
  * @param next
  *   begins with the next one, if there is one
  */
final private class PairsInTurn(next: () => Option[JoinedPairs]) extends JoinedPairs {
  private var pairs: JoinedPairs = _
  private var isOver = false

  override def advance(): Boolean = {
    var isFound = pairs != null && pairs.advance()
    // Invariant: the joins before `pairs` were given.
    while (!isFound && !isOver) {
      // What stands above may live on, and hold no index that is counted no more.
      pairs = next().orNull
      isOver = pairs == null
      isFound = !isOver && pairs.advance()
    }
    if (isFound) set(pairs.left, pairs.right) else pairs = null
    isFound
  }
}

private object PairsInTurn {

  /** Of one join, that is decided upon when the first pair is asked for. */
  def of(decide: () => JoinedPairs): PairsInTurn = {
    var isDecided = false
    new PairsInTurn(() => {
      val isFirst = !isDecided
      isDecided = true
      Option.when(isFirst)(decide())
    })
  }
}
