// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.{HintErrorHandler, HintInfo, JoinStrategyHint}

/** What Databricks' `RANGE_JOIN(r, 10)` leaves on a side of a join: that it was there, for EXPLAIN, beside
  * the strategy that another hint asks for.
  *
  * {{{
  * BROADCAST(r), RANGE_JOIN(r, 10)          strategy BROADCAST, and a word in EXPLAIN
  * }}}
  */
final class RangeJoinHint(strategy: Option[JoinStrategyHint]) extends HintInfo(strategy) {
  override def merge(other: HintInfo, handler: HintErrorHandler): HintInfo =
    new RangeJoinHint(super.merge(other, handler).strategy)

  override def canEqual(other: Any): Boolean = other.isInstanceOf[RangeJoinHint]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode + 1

  override def toString: String =
    strategy.map(s => s"strategy=$s, ").mkString("(", "", s"${RangeJoinHint.Said})")
}

object RangeJoinHint {
  val Said = "the bin of RANGE_JOIN is not needed"

  def on(other: HintInfo): HintInfo = new RangeJoinHint(other.strategy)
}
