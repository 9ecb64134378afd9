// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.Term

sealed abstract class Direction(symbol: String) {
  override def toString: String = symbol

  /** The rank of a value: a 64-bit integer that never falls along the order. The bitwise complement
    * turns an order round without overflow (`~x = -x - 1`).
    */
  def rank(value: Long): Long
}

object Direction {
  case object Ascending extends Direction("ASC") {
    def rank(value: Long): Long = value
  }
  case object Descending extends Direction("DESC") {
    def rank(value: Long): Long = ~value
  }
  val both: Seq[Direction] = Seq(Ascending, Descending)
}

/** A term over one side's columns that never goes backwards, or never forwards, as rows arrive.
  *
  * Conventions:
  *   1. The core sees the *rank* of an order value, [[Direction.rank]]; along any order ranks never
  *      fall.
  *   2. Equal values may come in any sequence.
  *   3. Rows whose order has no value (NULL) may come anywhere; they have no rank.
  */
final case class Order(term: Term, direction: Direction) {
  override def toString: String = s"$term $direction"
}
