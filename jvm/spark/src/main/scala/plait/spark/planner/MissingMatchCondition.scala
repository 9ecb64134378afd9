// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf

import plait.spark.plan.ClauseError

/** Says what was meant, where ASOF became the alias of a relation because no MATCH_CONDITION follows, and
  * the relation's own name is therefore unknown:
  *
  * {{{
  * SELECT l.id FROM l ASOF JOIN r ON l.k = r.k        l is called ASOF here, and l.k no longer exists
  * SELECT l.id FROM l AS OF JOIN r ON l.k = r.k       the same with OF
  * SELECT asof.id FROM l ASOF JOIN r ON asof.k = r.k  is right, and Spark's
  * }}}
  */
object MissingMatchCondition extends Rule[LogicalPlan] {
  private val Words = Set("ASOF", "OF")

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!plan.resolved) plan.foreach {
      case join: Join if join.left.resolved =>
        for (alias <- aliasOf(join.left); relation <- nameOf(alias.child))
          if (isAskedFor(relation, plan)) throw missing(relation, alias)
      case _ => ()
    }
    plan
  }

  /** The relation directly before JOIN. */
  private def aliasOf(left: LogicalPlan): Option[SubqueryAlias] = left match {
    case alias: SubqueryAlias if Words(alias.alias.toUpperCase(java.util.Locale.ROOT)) =>
      Some(alias)
    case join: Join => aliasOf(join.right)
    case _ => None
  }

  private def nameOf(plan: LogicalPlan): Option[String] = plan match {
    case named: SubqueryAlias => Some(named.alias)
    case view: View => Some(view.desc.identifier.table)
    case _ => None
  }

  private def isAskedFor(relation: String, plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(_.exists {
      case UnresolvedAttribute(parts) =>
        parts.dropRight(1).lastOption.exists(SQLConf.get.resolver(_, relation))
      case _ => false
    }))

  private def missing(relation: String, alias: SubqueryAlias) = {
    val written = if (alias.alias.equalsIgnoreCase("OF")) "AS OF" else alias.alias
    ClauseError(
      s"$written before JOIN is an alias of $relation where no MATCH_CONDITION follows, so that $relation is unknown. An " +
        s"as-of join is $relation ASOF JOIN r MATCH_CONDITION ($relation.ts >= r.ts) ON $relation.k = r.k",
      alias.origin
    )
  }
}
