// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types._

import plait.spark.plan.{ClauseError, MatchCondition, MatchRule}
import plait.spark.side.MatchDistance
import plait.spark.translate.{BestMatch, EndOfTime, MatchDirection}

/** What a MATCH_CONDITION means for the sides of its join:
  *
  * {{{
  * r.ts <= l.ts TOLERANCE INTERVAL 5 SECONDS
  *     at or before l.ts, within r.ts >= l.ts - 5 seconds, ties by r's columns in turn
  * }}}
  */
object BestMatchOf {
  import MatchDirection._

  def apply(clause: MatchCondition, left: LogicalPlan, right: LogicalPlan): BestMatch = {
    for (part <- clause.comparison +: clause.ties; column <- outside(part))
      throw ClauseError(
        "MATCH_CONDITION chooses among the rows of its sides, and cannot use " +
          s"${column.sql}, a column of the query around it: ask in WHERE, of the row that is picked",
        part.origin
      )
    val (ofLeft, ofRight, direction) = sides(clause, left, right)
    val within = clause.tolerance.map(Tolerance(_, direction, ofLeft, ofRight))
    clause.ties.find(_.references.isEmpty).foreach { tie =>
      throw ClauseError(
        s"TIES ORDER BY orders rows by columns of the right side, and ${tie.sql} has none",
        tie.origin
      )
    }
    clause.ties.find(tie => !tie.references.subsetOf(right.outputSet)).foreach { tie =>
      throw ClauseError(
        s"TIES ORDER BY orders rows of the right side, but ${tie.sql} names others",
        tie.origin
      )
    }
    val ties = clause.ties ++ columns(right, ofRight) ++ Distinction.all(right.output)
    BestMatch(direction, ofLeft, ofRight, within, clause.tolerance.map(Tolerance.text), ties)
  }

  private def outside(part: Expression): Option[Expression] =
    part.collectFirst { case OuterReference(column) => column }

  private def sides(clause: MatchCondition, left: LogicalPlan, right: LogicalPlan) =
    if (clause.rule == MatchRule.Newest) newest(clause, clause.comparison.children.last)
    else compared(clause, left, right)

  /** Every version is valid at the end of time. */
  private def newest(clause: MatchCondition, ofRight: Expression) = {
    val end = EndOfTime.of(ofRight.dataType).getOrElse {
      throw ClauseError(
        "PROCTIME() takes the newest version by a time, a date, an INT or a BIGINT, not by " +
          ofRight.dataType.sql,
        clause.origin
      )
    }
    (end, ofRight, AtOrBefore)
  }

  private def compared(clause: MatchCondition, left: LogicalPlan, right: LogicalPlan) = {
    def isOf(e: Expression, side: LogicalPlan) =
      e.references.nonEmpty && e.references.subsetOf(side.outputSet)
    val (a, b) = (clause.comparison.children.head, clause.comparison.children.last)
    if (isTextAsOther(a) || isTextAsOther(b)) throw wrongTypes(a, b, clause)
    val direction = clause.rule match {
      case MatchRule.Nearest =>
        if (!MatchDistance.exists(a.dataType)) throw noDistance(a, clause)
        Nearest
      case _ => directionOf(clause.comparison)
    }
    if (isOf(a, left) && isOf(b, right)) (a, b, direction)
    else if (isOf(b, left) && isOf(a, right)) (b, a, mirrored(direction))
    else throw wrongSides(a, b, clause)
  }

  /** Spark would compare a text with another value by making one of it. */
  private def isTextAsOther(operand: Expression): Boolean = operand match {
    case ImplicitCast(text) =>
      text.dataType.isInstanceOf[StringType] && !operand.dataType.isInstanceOf[StringType]
    case _ => false
  }

  private def written(operand: Expression): Expression = operand match {
    case ImplicitCast(child) => child
    case other => other
  }

  private def wrongTypes(a: Expression, b: Expression, clause: MatchCondition) = ClauseError.like(
    "ASOF_JOIN_MATCH_CONDITION_INVALID_TYPE",
    Map("type1" -> written(a).dataType.sql, "type2" -> written(b).dataType.sql),
    clause.comparison.origin
  )

  private def wrongSides(a: Expression, b: Expression, clause: MatchCondition) = {
    def names(operand: Expression) =
      if (operand.references.isEmpty) "none" else operand.references.map(_.sql).mkString(", ")
    ClauseError.like(
      "ASOF_JOIN_MATCH_CONDITION_TABLE_REFERENCE",
      Map("refs1" -> names(a), "refs2" -> names(b)),
      clause.comparison.origin
    )
  }

  private def noDistance(operand: Expression, clause: MatchCondition) = ClauseError(
    s"NEAREST needs values that have a distance: numbers, dates, times or intervals, not ${operand.dataType.sql}",
    clause.comparison.origin
  )

  private def directionOf(comparison: Expression): MatchDirection = comparison match {
    case _: GreaterThanOrEqual => AtOrBefore
    case _: GreaterThan => Before
    case _: LessThanOrEqual => AtOrAfter
    case _ => After
  }

  private def mirrored(direction: MatchDirection): MatchDirection = direction match {
    case AtOrBefore => AtOrAfter
    case Before => After
    case AtOrAfter => AtOrBefore
    case After => Before
    case Nearest => Nearest
  }

  /** The right side's columns that have an order, left to right. */
  private def columns(right: LogicalPlan, matched: Expression): Seq[SortOrder] =
    right.output
      .filter(column => RowOrdering.isOrderable(column.dataType))
      .filterNot(_.semanticEquals(matched))
      .map(SortOrder(_, Ascending))
}
