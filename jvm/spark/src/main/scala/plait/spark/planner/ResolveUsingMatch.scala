// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.UsingMatch

/** Puts a carried clause into the condition that Spark has made of USING, below the projection that it has
  * made, too: from here on Spark looks up its names.
  */
object ResolveUsingMatch extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UsingMatch(clause, child) if child.resolved => inJoin(child, clause.value)
  }

  private def inJoin(plan: LogicalPlan, clause: Expression): LogicalPlan = plan match {
    case join: Join =>
      join.copy(condition = Some(join.condition.fold(clause)(And(_, clause))))
    case other => other.mapChildren(inJoin(_, clause))
  }
}
