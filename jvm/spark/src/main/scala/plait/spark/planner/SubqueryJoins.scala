// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.optimizer.{PushPredicateThroughJoin, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LocalRelation, LogicalPlan}

/** The joins that Spark will make of a filter's subqueries, before it makes them.
  *
  * {{{
  * p WHERE p.x > 0 AND EXISTS (SELECT 1 FROM r WHERE p.x BETWEEN r.lo AND r.hi)
  *
  * Filter EXISTS, p.x > 0      becomes     Project p
  *   p                                       Join LeftSemi, p.x BETWEEN r.lo AND r.hi
  *                                             Filter p.x > 0
  *                                               p
  *                                             r
  * }}}
  *
  * The rules that make them are Spark's own, applied to the filter over a leaf of the same columns: what
  * lies below the filter stays as it is. Where Spark's join needs the outer rows twice (those that are
  * compared within the subquery, each once), so has the plan its leaf.
  */
object SubqueryJoins {

  def isAskedBy(filter: Filter): Boolean =
    SubqueryExpression.hasInOrCorrelatedExistsSubquery(filter.condition)

  /** The filter as joins, from below.
    * @param joined
    *   what to make of each join
    */
  def of(filter: Filter)(joined: Join => LogicalPlan): LogicalPlan = {
    val leaf = LocalRelation(filter.child.output)
    PushPredicateThroughJoin(RewritePredicateSubquery(filter.copy(child = leaf))).transformUp {
      case below if below eq leaf => filter.child
      case join: Join => joined(join)
    }
  }
}
