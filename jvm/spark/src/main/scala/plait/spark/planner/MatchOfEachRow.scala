// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.{ClauseError, MatchCondition}

/** Refuses a MATCH_CONDITION that compares what is not a value of each row, whatever its types:
  *
  * {{{
  * MATCH_CONDITION (rand() >= r.ts)              an error that names rand(), not two types that cannot be compared
  * MATCH_CONDITION (l.ts >= (SELECT max(t) ...)) the same of the query
  * }}}
  */
object MatchOfEachRow extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case join: Join if join.childrenResolved =>
        join.condition.foreach(_.foreach {
          case clause: MatchCondition if clause.comparison.childrenResolved =>
            check(clause)
          case _ => ()
        })
      case _ => ()
    }
    plan
  }

  private def check(clause: MatchCondition): Unit =
    clause.comparison.children
      .find(operand => !operand.deterministic || operand.exists(_.isInstanceOf[SubqueryExpression]))
      .foreach { operand =>
        throw ClauseError.like(
          "ASOF_JOIN_MATCH_CONDITION_INVALID_EXPRESSION",
          Map("expr" -> operand.sql),
          clause.comparison.origin
        )
      }
}
