// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.{ClauseError, _}

/** Makes an [[AsOfJoin]] of a join with MATCH_CONDITION, once its names and types are known:
  *
  * {{{
  * Join(l, r, LeftOuter, l.k = r.k AND MatchCondition(r.ts <= l.ts))
  *     AsOfJoin(l, r, LeftOuter, best r.ts at or before l.ts, then r.ts, r.k, r.v; l.k = r.k)
  * }}}
  */
object ResolveAsOfJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case join @ Join(left, right, joinType, Some(condition), _) if join.resolved =>
      split(condition) match {
        case (clause +: others, on) =>
          others.foreach(o => throw ClauseError("A join has one MATCH_CONDITION", o.origin))
          val bare = AsOfJoin(left, right, joinType, BestMatchOf(clause, left, right), None, None)
          val (foreign, conditions) = on.partition(ForeignConditions.isOne(_, bare))
          val (checks, choosing) = conditions.partition(_.isInstanceOf[AfterChoice])
          val asOf = bare.copy(
            condition = choosing.reduceOption(And(_, _)),
            check = checks.collect { case AfterChoice(check) => check }.reduceOption(And(_, _))
          )
          ForeignConditions.filtered(asOf, foreign)
        case _ => join
      }
  }

  private def split(condition: Expression): (Seq[MatchCondition], Seq[Expression]) = {
    val (clauses, on) =
      splitConjunctivePredicates(condition).partition(_.isInstanceOf[MatchCondition])
    (clauses.map(_.asInstanceOf[MatchCondition]), on)
  }
}
