// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.{Inner, LeftSemi}

import plait.spark.plan.{AfterChoice, AsOfJoin, ClauseError}

/** The conditions in ON of an as-of join that its node cannot ask, because Spark answers them by nodes of
  * its own: queries, columns of the query around this one, Python functions of both sides. They become
  * filters where that says the same:
  *
  * {{{
  * l LEFT ASOF JOIN r ... ON l.k = r.k AND r.id IN (SELECT ...)       r is filtered before
  * o JOIN v FOR SYSTEM_TIME AS OF ... AND v.id IN (SELECT ...)        the rows are, afterwards: it is a check
  * EXISTS (SELECT * FROM l ASOF JOIN r ... AND l.id = outside.id)     afterwards: it is of the left row alone
  * o JOIN v FOR SYSTEM_TIME AS OF ... AND python(o.a, v.b)            afterwards: it is a check
  * }}}
  *
  * Any other is refused. A query that gives one value for all rows is a value like others, and so is a
  * Python function of one side.
  */
object ForeignConditions {

  def isOne(conjunct: Expression, join: AsOfJoin): Boolean =
    asksQuery(conjunct) || isOfOutside(conjunct) || pythonOfBoth(conjunct, join).isDefined

  /** The join with these conjuncts of ON added, each as what it must be. */
  def filtered(join: AsOfJoin, conjuncts: Seq[Expression]): LogicalPlan = {
    val (later, before) = conjuncts.partition(isAbove(join, _))
    val narrowed = before.foldLeft(join)(below)
    later.map(asked).foldLeft[LogicalPlan](narrowed)((plan, check) => Filter(check, plan))
  }

  /** Does a filter of the rows that come out say the same? */
  private def isAbove(join: AsOfJoin, conjunct: Expression): Boolean = conjunct match {
    case AfterChoice(check) if !isOfOutside(check) && isBelowLeft(join, check) => false
    case _: AfterChoice if join.joinType == Inner => true
    case _ =>
      isOfOutside(conjunct) && isOf(asked(conjunct), join.left) &&
      (join.joinType == Inner || join.joinType == LeftSemi)
  }

  private def asked(conjunct: Expression): Expression = conjunct match {
    case AfterChoice(check) => check
    case choosing => choosing
  }

  private def below(join: AsOfJoin, conjunct: Expression): AsOfJoin = {
    val condition = asked(conjunct)
    val isChoosing = condition eq conjunct
    if (isOfOutside(condition)) throw refusedOutside(join, condition)
    pythonOfBoth(condition, join).foreach(function => throw refusedPython(join, function))
    if (isBelowLeft(join, condition)) join.copy(left = Filter(condition, join.left))
    else if (isChoosing && AsOfJoin.isFree(join.joinType).right && isOf(condition, join.right))
      join.copy(right = Filter(condition, join.right))
    else throw refusedQuery(join, condition)
  }

  private def asksQuery(condition: Expression): Boolean = condition.exists {
    case scalar: ScalarSubquery => scalar.isCorrelated
    case query => query.isInstanceOf[SubqueryExpression]
  }

  private def isOfOutside(condition: Expression): Boolean =
    condition.exists(_.isInstanceOf[OuterReference])

  private def pythonOfBoth(condition: Expression, join: AsOfJoin): Option[Expression] =
    condition.find {
      case function: PythonUDF => !isOf(function, join.left) && !isOf(function, join.right)
      case _ => false
    }

  private def isBelowLeft(join: AsOfJoin, condition: Expression): Boolean =
    AsOfJoin.isFree(join.joinType).left && isOf(condition, join.left)

  private def isOf(condition: Expression, side: LogicalPlan): Boolean =
    condition.references.subsetOf(side.outputSet)

  private def refusedQuery(join: AsOfJoin, condition: Expression) = ClauseError(
    "IN, EXISTS and correlated queries in ON of an as-of or temporal join must be of one side, whose rows may be " +
      s"filtered before the join: this one is not, in a join of the type ${join.joinType.sql}. Ask in WHERE, or join " +
      "(SELECT * FROM r WHERE EXISTS (...)) AS r",
    condition.origin
  )

  private def refusedOutside(join: AsOfJoin, condition: Expression) = ClauseError(
    s"ON of an as-of or temporal join of the type ${join.joinType.sql} cannot compare the right side with " +
      s"${outside(condition)}, a column of the query around it: ask in WHERE, of the row that is picked, or join the " +
      "outer relation too, so that it is a column of the left side",
    condition.origin
  )

  private def outside(condition: Expression): String =
    condition.collectFirst { case OuterReference(column) => column.sql }.get

  private def refusedPython(join: AsOfJoin, function: Expression) = ClauseError(
    s"The Python function ${function.sql} in ON of an as-of or temporal join of the type ${join.joinType.sql} takes " +
      "columns of both sides, and Spark runs Python on the rows of one: ask in WHERE, of the row that is picked, write " +
      "the condition in SQL, or give the function the columns of one side",
    function.origin
  )
}
