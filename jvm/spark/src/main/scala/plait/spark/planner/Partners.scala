// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

/** With how many rows of a collected side, at most, one of the other would have to be compared.
  *
  * {{{
  * upTo(16)      3       with three
  *               16      with sixteen or more: it was counted no further
  *               None    nobody knows
  * }}}
  */
private[planner] trait Partners {
  def upTo(enough: Long): Option[BigInt]
}
