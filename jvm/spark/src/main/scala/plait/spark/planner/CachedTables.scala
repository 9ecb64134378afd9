// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.columnar.InMemoryRelation

import plait.spark.plan.{DeclaredBy, OrderedBy}

/** Takes what a table says of the order in its files from where its rows come out of the cache: a partition there holds
  * rows of several files, and nobody knows which.
  *
  * {{{
  * CACHE TABLE t;  OrderedBy(seq, InMemoryRelation t)      InMemoryRelation t
  * }}}
  *
  * What a hint says of cached rows stays: it is said of their partitions.
  */
object CachedTables extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case ordered: OrderedBy if ordered.declared == DeclaredBy.Table && isCached(ordered.child) =>
      ordered.child
  }

  private def isCached(plan: LogicalPlan): Boolean = plan match {
    case _: InMemoryRelation => true
    case _: Project | _: Filter => isCached(plan.children.head)
    case _ => false
  }
}
