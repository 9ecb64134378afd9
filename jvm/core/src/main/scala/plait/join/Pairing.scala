// SPDX-License-Identifier: Apache-2.0
package plait.join

/** What is to be known of a left and a right row for the nearest to be found.
  *
  * {{{
  * NEAREST (l.ts, r.ts) TOLERANCE 5, ON l.v < r.v            left 10:04, v 1        right 10:09, v 1
  *   isWithin TRUE        accepts FALSE        distance 5        isZero FALSE
  * }}}
  */
trait Pairing[L, R, D] {

  /** Near enough: TRUE for all between the left row and any one for which it is. */
  def isWithin(left: L, right: R): Boolean

  /** The join's condition beyond keys and match values. */
  def accepts(left: L, right: R): Boolean

  /** Does that refuse each row of the left row's own match value, as `l.ts <> r.ts` does? Then none of them
    * is asked about.
    */
  def refusesEqual: Boolean

  /** Never falling with steps away from the left row, to one side. */
  def distance(left: L, right: R): D
  def isNearer(a: D, b: D): Boolean
  def isZero(distance: D): Boolean
}
