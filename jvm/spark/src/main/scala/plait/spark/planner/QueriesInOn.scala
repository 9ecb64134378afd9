// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}

import plait.spark.plan.{AfterChoice, AsOfJoin, ClauseError}

/** The conditions in ON of an as-of join that ask a query which Spark answers by a join of its own. They
  * become filters where that says the same:
  *
  * {{{
  * l LEFT ASOF JOIN r ... ON l.k = r.k AND r.id IN (SELECT ...)       r is filtered before
  * o JOIN v FOR SYSTEM_TIME AS OF ... AND v.id IN (SELECT ...)        the rows are, afterwards: it is a check
  * }}}
  *
  * Any other is refused. A query that gives one value for all rows is a value like others.
  */
object QueriesInOn {

  /** The join with these conjuncts of ON added, each as what it must be. */
  def filtered(join: AsOfJoin, conjuncts: Seq[Expression]): LogicalPlan = {
    val (checks, choosing) = conjuncts.partition(_.isInstanceOf[AfterChoice])
    val narrowed = choosing.foldLeft(join)(below)
    val asked = checks.collect { case AfterChoice(check) => check }
    val (ofLeft, ofPair) = asked.partition(isBelowLeft(join, _))
    val all = ofLeft.foldLeft(narrowed)(below)
    if (ofPair.nonEmpty && join.joinType != Inner) throw refused(join, ofPair.head)
    ofPair.foldLeft[LogicalPlan](all)((plan, check) => Filter(check, plan))
  }

  def isOne(conjunct: Expression): Boolean = conjunct.exists {
    case scalar: ScalarSubquery => scalar.isCorrelated
    case query => query.isInstanceOf[SubqueryExpression]
  }

  private def below(join: AsOfJoin, asked: Expression): AsOfJoin =
    if (isBelowLeft(join, asked)) join.copy(left = Filter(asked, join.left))
    else if (AsOfJoin.isFree(join.joinType).right && isOf(asked, join.right))
      join.copy(right = Filter(asked, join.right))
    else throw refused(join, asked)

  private def isBelowLeft(join: AsOfJoin, asked: Expression): Boolean =
    AsOfJoin.isFree(join.joinType).left && isOf(asked, join.left)

  private def isOf(asked: Expression, side: LogicalPlan): Boolean =
    asked.references.subsetOf(side.outputSet)

  private def refused(join: AsOfJoin, asked: Expression) = ClauseError(
    "IN, EXISTS and correlated queries in ON of an as-of or temporal join must be of one side, whose rows may be " +
      s"filtered before the join: this one is not, in a join of the type ${join.joinType.sql}. Ask in WHERE, or join " +
      "(SELECT * FROM r WHERE EXISTS (...)) AS r",
    asked.origin
  )
}
