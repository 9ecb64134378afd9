// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.{Claim, OrderedBy, StreamClaim}

/** Filters go below what is said of a relation, so that they reach the scan. Of a declared order: the rows that
  * are left come in the same sequence, and only rows that a query reads are checked. Not so of a
  * stream, where the rows that a filter leaves out say how far the others have come; nor of a filter that becomes a join
  * (`k IN (SELECT ...)`) or a process of Python's, from which rows come in another sequence, or after the next file was
  * begun.
  *
  * {{{
  * Filter(k = 3, OrderedBy(seq, scan))      OrderedBy(seq, Filter(k = 3, scan))
  * }}}
  *
  * For the same reason what is said of a relation goes below columns and filters that Python computes.
  */
object PushThroughClaim extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case filter @ Filter(condition, claim: Claim) if lets(claim) =>
      val (pushed, kept) = splitConjunctivePredicates(condition).partition(keepsSequence)
      if (pushed.isEmpty) filter
      else {
        val below = claim.withNewChildren(Seq(Filter(all(pushed), claim.child)))
        if (kept.isEmpty) below else Filter(all(kept), below)
      }
    case ordered: OrderedBy if !ordered.isStreaming && ordered.child.exists(isPython) =>
      below(ordered).getOrElse(ordered)
  }

  /** The claim is checked before a process of Python's is given the rows, if that has no part in it. */
  private def below(ordered: OrderedBy): Option[LogicalPlan] = ordered.child match {
    case project: Project => belowColumns(ordered, project)
    case filter: Filter if isPython(filter) && filter.deterministic =>
      Some(filter.copy(child = ordered.copy(child = filter.child)))
    case _ => None
  }

  private def belowColumns(ordered: OrderedBy, project: Project): Option[LogicalPlan] = {
    val values = getAliasMap(project)
    val claim = ordered.copy(
      order = ordered.order.copy(child = replaceAlias(ordered.order.child, values)),
      frontier = ordered.frontier.map(replaceAlias(_, values)),
      child = project.child
    )
    Option.unless(claim.expressions.exists(e => readsAhead(e) || !e.deterministic))(
      project.copy(child = claim)
    )
  }

  private def isPython(plan: LogicalPlan) = plan.expressions.exists(readsAhead)

  private def readsAhead(e: Expression) = e.exists(_.isInstanceOf[PythonFuncExpression])

  private def lets(claim: Claim): Boolean = claim match {
    case ordered: OrderedBy => !ordered.isStreaming
    case _: StreamClaim => true
    case _ => false
  }

  private def keepsSequence(conjunct: Expression): Boolean =
    conjunct.deterministic && !SubqueryExpression.hasInOrCorrelatedExistsSubquery(conjunct) &&
      !SubqueryExpression.hasCorrelatedSubquery(conjunct) &&
      !conjunct.exists(_.isInstanceOf[Exists]) && !readsAhead(conjunct)

  private def all(conjuncts: Seq[Expression]): Expression = conjuncts.reduce(And(_, _))
}
