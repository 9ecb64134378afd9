// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{CollationKey, Expression}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinStrategyHint, LogicalPlan}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.StringType

import plait.BySide

/** A logical join taken apart:
  *
  * {{{
  * l JOIN r ON l.k = r.k AND l.t < r.t        keys (l.k), (r.k)      residual l.t < r.t
  * p JOIN r ON p.x BETWEEN r.lo AND r.hi      keys (), ()            residual p.x >= r.lo AND ...
  * }}}
  *
  * @param keys
  *   may be empty
  * @param residual
  *   the condition beyond the keys
  */
final case class JoinToPlan(
    join: Join,
    joinType: JoinType,
    keys: BySide[Seq[Expression]],
    residual: Option[Expression]
) {
  val children: BySide[LogicalPlan] = BySide(join.left, join.right)
  def hasKeys: Boolean = keys.left.nonEmpty

  def strategies: Seq[JoinStrategyHint] =
    Seq(join.hint.leftHint, join.hint.rightHint).flatten.flatMap(_.strategy)
}

object JoinToPlan {
  def of(join: Join): JoinToPlan = join match {
    case ExtractEquiJoinKeys(joinType, left, right, residual, _, _, _, _) =>
      JoinToPlan(join, joinType, BySide(left, right).map(_.map(hashable)), residual)
    case _ => JoinToPlan(join, join.joinType, BySide(Nil, Nil), join.condition)
  }

  /** Texts that are equal under their collation have equal collation keys. */
  private def hashable(key: Expression): Expression = key.dataType match {
    case text: StringType if !UnsafeRowUtils.isBinaryStable(text) => CollationKey(key)
    case _ => key
  }
}
