// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions._
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
object MissingMatchCondition extends Rule[LogicalPlan] with PredicateHelper {
  private val Words = Set("ASOF", "OF")

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!plan.resolved) plan.foreach {
      case join: Join if join.left.resolved =>
        for (alias <- aliasOf(join.left); relation <- nameOf(alias.child))
          if (isAskedFor(relation, plan))
            throw missing(relation, alias, usingColumns(join, plan), join)
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

  /** Spark has made equalities of USING by now, below a projection of its own. */
  private def usingColumns(join: Join, plan: LogicalPlan): Seq[String] = {
    val isUsing = plan.exists {
      case made @ Project(_, same: Join) =>
        (same eq join) && made.getTagValue(Project.hiddenOutputTag).isDefined
      case _ => false
    }
    join.condition.filter(_ => isUsing).toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(column: Attribute, _) => column.name
    }
  }

  private def missing(relation: String, alias: SubqueryAlias, using: Seq[String], join: Join) = {
    val right = nameOf(join.right).getOrElse("r")
    val written = if (alias.alias.equalsIgnoreCase("OF")) "AS OF" else alias.alias
    ClauseError(
      s"$written before JOIN is an alias of $relation where no MATCH_CONDITION follows, so that $relation is unknown. An " +
        s"as-of join is $relation ASOF JOIN $right ${clauses(relation, right, using, join)}",
      alias.origin
    )
  }

  /** The comparison that stands in ON or is the last column of USING, as in other dialects, where it belongs. */
  private def clauses(left: String, right: String, using: Seq[String], join: Join): String =
    (using, join.condition.toSeq.flatMap(splitConjunctivePredicates)) match {
      case (keys :+ last, _) =>
        val rest = if (keys.isEmpty) "" else keys.mkString(" USING (", ", ", ")")
        s"MATCH_CONDITION ($left.$last >= $right.$last)$rest"
      case (_, conjuncts) if conjuncts.exists(isOrder) =>
        val (comparison, rest) = (conjuncts.find(isOrder).get, conjuncts.filterNot(isOrder))
        val on = if (rest.isEmpty) "" else rest.map(_.sql).mkString(" ON ", " AND ", "")
        s"MATCH_CONDITION ${comparison.sql}$on"
      case _ => s"MATCH_CONDITION ($left.ts >= $right.ts) ON $left.k = $right.k"
    }

  private def isOrder(e: Expression): Boolean = e match {
    case _: GreaterThanOrEqual | _: GreaterThan | _: LessThanOrEqual | _: LessThan => true
    case _ => false
  }
}
