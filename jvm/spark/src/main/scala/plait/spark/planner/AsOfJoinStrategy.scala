// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{And, EqualTo}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LogicalPlan}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.plait.FloatingKeys

import plait.spark.exec.AsOfJoinExec
import plait.spark.plan.AsOfJoin

/** Plans an [[AsOfJoin]]: the equalities of its condition are the keys, where they can be hashed. */
object AsOfJoinStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: AsOfJoin =>
      val apart =
        JoinToPlan.of(Join(join.left, join.right, Inner, join.condition, JoinHint.NONE))
      val (keys, compared) = apart.keys.left.zip(apart.keys.right).partition { case (key, _) =>
        UnsafeRowUtils.isBinaryStable(key.dataType)
      }
      val rest = compared.map { case (l, r) => EqualTo(l, r) } ++ apart.residual
      Seq(
        AsOfJoinExec(
          keys.map { case (key, _) => FloatingKeys.normalized(key) },
          keys.map { case (_, key) => FloatingKeys.normalized(key) },
          join.joinType,
          join.best,
          rest.reduceOption(And(_, _)),
          join.check,
          planLater(join.left),
          planLater(join.right)
        )
      )
    case _ => Nil
  }
}
