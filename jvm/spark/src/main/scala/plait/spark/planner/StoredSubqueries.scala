// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{
  Join,
  LocalRelation,
  LogicalPlan,
  OneRowRelation,
  Range
}
import org.apache.spark.sql.catalyst.plans.{
  Cross,
  Inner,
  JoinType,
  LeftExistence,
  LeftOuter,
  LeftSemi,
  RightOuter
}
import org.apache.spark.sql.catalyst.trees.Origin

import plait.spark.plan.{AsOfJoin, ClauseError}

/** Refuses subqueries over tables in the condition of a join of streams:
  *
  * {{{
  * l JOIN r ON l.k = r.k + (SELECT max(d) FROM t)                     refused: rows are stored by the hash of the key
  *   AND r.ts < l.ts + (SELECT max(late) FROM t)                      refused: until when a left row waits
  *   AND l.v < (SELECT max(v) FROM t)                                 a filter of the left side; of a LEFT JOIN refused
  * l JOIN (SELECT *, k + (SELECT max(d) FROM t) AS key FROM r) r      a column, stored as it was when its row came
  *   ON l.k = key
  * }}}
  *
  * The table may have another answer with the next micro-batch, and a row that waits would be looked up by the new one.
  * Subqueries without a table have one answer.
  */
object StoredSubqueries extends PredicateHelper {

  /** @param join
    *   of the type that it has
    */
  def check(join: Join): Unit = refuse(join.condition, join, join.joinType, join.origin)

  def check(join: AsOfJoin): Unit = {
    refuse(join.condition, join, join.joinType, join.origin)
    refuse(join.check ++ Some(join.best), join, LeftOuter, join.origin)
  }

  private def refuse(
      conditions: Iterable[Expression],
      join: LogicalPlan,
      joinType: JoinType,
      at: Origin
  ): Unit =
    for {
      conjunct <- conditions.flatMap(splitConjunctivePredicates)
      asks <- conjunct.collectFirst {
        case query: SubqueryExpression if mayChange(query.plan) => query
      }
      if !filtered(join, joinType).exists(side => conjunct.references.subsetOf(side.outputSet))
    } throw ClauseError(
      s"The condition ${conjunct.sql} of a join of streams follows from the subquery ${asks.sql}, whose answer may be another " +
        "in the next micro-batch; a row that waits is stored by its key and by what it reaches. Make a column of it below " +
        "the join, (SELECT *, k + (SELECT max(d) FROM t) AS key FROM r) r; or filter one side by it in a WHERE of its own.",
      at
    )

  /** The sides of which a condition of ON that asks nothing of the other is a filter. */
  private def filtered(join: LogicalPlan, joinType: JoinType): Seq[LogicalPlan] = joinType match {
    case Inner | Cross | LeftSemi => join.children
    case LeftOuter | LeftExistence(_) => Seq(join.children(1))
    case RightOuter => Seq(join.children.head)
    case _ => Nil
  }

  private def mayChange(plan: LogicalPlan): Boolean = plan.collectLeaves().exists {
    case OneRowRelation() | _: LocalRelation | _: Range => false
    case _ => true
  }
}
