// SPDX-License-Identifier: Apache-2.0
package plait.constraint

/** What a [[Solver]] has still to do with each node, and what it knows of it beside its values.
  *
  * {{{
  * n < 3 has been narrowed       n is untold, n < 3 and n + 1 are stale and untold
  * }}}
  */
final private[constraint] class News(size: Int) {

  /** Has an argument changed since this was computed? */
  val isStale = new Array[Boolean](size)

  /** Has this, or an argument, changed since the arguments were told of it? */
  val isUntold = new Array[Boolean](size)

  /** Has this surely a value? */
  val isEvaluated = new Array[Boolean](size)

  def clear(): Unit = {
    java.util.Arrays.fill(isStale, false)
    java.util.Arrays.fill(isUntold, true)
    java.util.Arrays.fill(isEvaluated, false)
  }

  def copyFrom(that: News): Unit = {
    System.arraycopy(that.isStale, 0, isStale, 0, size)
    System.arraycopy(that.isUntold, 0, isUntold, 0, size)
    System.arraycopy(that.isEvaluated, 0, isEvaluated, 0, size)
  }
}
