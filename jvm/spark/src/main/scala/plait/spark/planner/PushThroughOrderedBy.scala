// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.OrderedBy

/** Filters go below a declared order, so that they reach the scan: the rows that are left come in the
  * same sequence. So only rows that a query reads are checked. Not so of a stream, where the rows that a
  * filter leaves out say how far the others have come.
  *
  * {{{
  * Filter(k = 3, OrderedBy(seq, scan))      OrderedBy(seq, Filter(k = 3, scan))
  * }}}
  */
object PushThroughOrderedBy extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case filter @ Filter(condition, ordered: OrderedBy) if !ordered.isStreaming =>
      val (pushed, kept) = splitConjunctivePredicates(condition).partition(_.deterministic)
      if (pushed.isEmpty) filter
      else {
        val below = ordered.copy(child = Filter(all(pushed), ordered.child))
        if (kept.isEmpty) below else Filter(all(kept), below)
      }
  }

  private def all(conjuncts: Seq[Expression]): Expression = conjuncts.reduce(And(_, _))
}
