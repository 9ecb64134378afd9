// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.BySide
import plait.spark.plan.AsOfJoin

/** Makes a narrower type of an outer as-of join whose padded rows a filter above it drops anyway:
  *
  * {{{
  * WHERE is not TRUE of         LEFT        RIGHT       FULL
  *   NULLs on the right         INNER       RIGHT       RIGHT
  *   NULLs on the left          LEFT        INNER       LEFT
  *   either                     INNER       INNER       INNER
  *
  * l LEFT ASOF JOIN r ... WHERE r.bid > 3          l ASOF JOIN r ... WHERE r.bid > 3
  * }}}
  *
  * The filter stays where it is: below the join it would change what is picked. But more goes below an
  * INNER join ([[PushThroughAsOfJoin]]).
  */
object NarrowAsOfJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case filter @ Filter(condition, join: AsOfJoin) =>
      val conjuncts = splitConjunctivePredicates(condition)
      val sides = BySide(join.left.outputSet, join.right.outputSet)
      val narrow = narrowed(join.joinType, sides.map(s => conjuncts.exists(rejectsNulls(_, s))))
      if (narrow == join.joinType) filter else filter.copy(child = join.copy(joinType = narrow))
  }

  /** @param rejected
    *   whether a row is dropped that is NULL on that side
    */
  private def narrowed(joinType: JoinType, rejected: BySide[Boolean]): JoinType = joinType match {
    case LeftOuter if rejected.right => Inner
    case RightOuter if rejected.left => Inner
    case FullOuter =>
      (rejected.left, rejected.right) match {
        case (true, true) => Inner
        case (true, false) => LeftOuter
        case (false, true) => RightOuter
        case _ => FullOuter
      }
    case other => other
  }

  /** Of the NULLs of a side alone it is NULL or FALSE. */
  private def rejectsNulls(conjunct: Expression, side: AttributeSet): Boolean =
    conjunct.deterministic && !SubqueryExpression.hasSubquery(conjunct) &&
      conjunct.references.nonEmpty && conjunct.references.subsetOf(side) && {
        val ofNulls = conjunct.transform { case column: Attribute =>
          Literal.create(null, column.dataType)
        }
        try Set[Any](null, false).contains(ofNulls.eval(EmptyRow))
        catch { case PlanningFailure(_) => false }
      }
}
