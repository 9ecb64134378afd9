// SPDX-License-Identifier: Apache-2.0
package plait.join

/** What becomes of the rows of one side whose order has no value (NULL), and which have no rank:
  *
  * {{{
  * r.t BETWEEN l.t AND l.t + 5                     a right row whose t is NULL matches nothing: Dead
  * r.t BETWEEN l.t AND l.t + 5 OR r.t IS NULL      it matches every left row of its key: Matching
  * }}}
  *
  * Conventions:
  *   1. Rows without a rank that may match come before all others of their side, as rows of the least
  *      rank, and are in the reach of every row beside what else that reaches.
  *   2. So a row that has died, because the other side's frontier has passed its reach, has met them.
  *   3. Rows of the least rank that do have a value are looked at too; the condition tells them apart.
  */
sealed trait Rankless

object Rankless {
  case object Dead extends Rankless
  case object Matching extends Rankless

  /** The rank with which they are added. */
  val Rank: Long = Long.MinValue
}
