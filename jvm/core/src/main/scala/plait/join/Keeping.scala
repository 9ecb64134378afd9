// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Which rows of a key an as-of join keeps to be picked, and for how long.
  *
  * {{{
  * l.ts >= r.ts                            Best
  * l.ts >= r.ts TOLERANCE 5                BestInReach
  * l.ts >= r.ts, ON l.v < r.v              All
  * l.ts >= r.ts TOLERANCE 5, ON l.v < r.v  AllInReach
  * }}}
  *
  * @param all
  *   a condition across the sides may refuse the better ones; else one row of each match value does
  * @param expires
  *   what is farther than a tolerance from all that is still to come is dropped, of all keys
  */
sealed abstract class Keeping(val all: Boolean, val expires: Boolean)
object Keeping {
  case object Best extends Keeping(all = false, expires = false)
  case object BestInReach extends Keeping(all = false, expires = true)
  case object All extends Keeping(all = true, expires = false)
  case object AllInReach extends Keeping(all = true, expires = true)
}
