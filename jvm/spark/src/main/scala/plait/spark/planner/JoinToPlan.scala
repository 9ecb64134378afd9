// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{CollationKey, EqualTo, Expression}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinStrategyHint, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.StringType

import plait.spark.plan.{PlaitJoinHint, RangeJoinHint, RowWidth}
import plait.spark.side.SidePruning
import plait.spark.{JoinStrategyChoice, PlaitConf}
import plait.{BySide, Side}

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

  def equalities: Seq[Expression] =
    keys.left.zip(keys.right).map { case (l, r) => EqualTo(l, r) }

  /** Which joins Plait is to run; the hint says more than the session. */
  def choice(conf: PlaitConf): JoinStrategyChoice =
    if (strategies.contains(PlaitJoinHint.SYMMETRIC_HASH)) JoinStrategyChoice.Always
    else conf.joinStrategy

  /** For people; Spark has no name for the join that `EXISTS` under an OR becomes. */
  def typeName: String = joinType match {
    case _: ExistenceJoin => "EXISTS"
    case other => other.sql
  }

  /** How many rows a side has, by what Spark knows or would guess; None where it knows nothing. */
  def rows(side: Side): Option[BigInt] = JoinToPlan.rows(children(side))

  /** What prunes each side, with what a hint has left to be said of it. */
  def told(pruning: BySide[SidePruning]): BySide[SidePruning] = {
    val hints = BySide(join.hint.leftHint, join.hint.rightHint)
    BySide.make { side =>
      if (hints(side).exists(_.isInstanceOf[RangeJoinHint])) pruning(side).and(RangeJoinHint.Said)
      else pruning(side)
    }
  }

  def strategies: Seq[JoinStrategyHint] =
    Seq(join.hint.leftHint, join.hint.rightHint).flatten.flatMap(_.strategy)
}

object JoinToPlan {

  /** How many rows a plan has, by what Spark knows or would guess; None where it knows nothing. */
  def rows(plan: LogicalPlan): Option[BigInt] = plan.stats.rowCount.orElse(
    Some(plan.stats.sizeInBytes)
      .filter(_ < plan.conf.defaultSizeInBytes)
      .map(_ / RowWidth.of(plan.output))
  )

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
