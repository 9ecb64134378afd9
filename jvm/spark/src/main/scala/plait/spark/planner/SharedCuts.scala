// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.execution.{BaseSubqueryExec, ColumnarRule, ScalarSubquery, SparkPlan}

import plait.spark.PlaitConf

/** Subqueries of one id are one subquery: what cuts both sides of a join into ranges ([[RangeCuts]]) runs once, and both
  * get the same cuts.
  *
  * {{{
  * left   range_of(x, subquery#7 [plan A])            left   range_of(x, subquery#7 [plan A])
  * right  range_of(lo, subquery#7 [plan B])     ->    right  range_of(lo, subquery#7 [plan A])
  * }}}
  *
  * Adaptive execution plans them so. Without it Spark plans each occurrence, and then finds out which plans are
  * equal; but a source may give plans that are not equal to themselves, and cuts of a sample may differ from run to run. Rows
  * would be missing.
  */
object SharedCuts extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override val ruleName: String = SharedCuts.getClass.getName.stripSuffix("$")

    override def apply(plan: SparkPlan): SparkPlan =
      if (!PlaitConf(conf).enabled || !conf.subqueryReuseEnabled) plan
      else {
        val known = mutable.HashMap.empty[ExprId, BaseSubqueryExec]
        plan.transformAllExpressionsWithPruning(_.containsPattern(PLAN_EXPRESSION)) {
          case subquery: ScalarSubquery =>
            val first = known.getOrElseUpdate(subquery.exprId, subquery.plan)
            if (first eq subquery.plan) subquery else subquery.withNewPlan(first)
        }
      }
  }
}
