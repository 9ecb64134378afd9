// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.{ClauseError, StreamAsOfCarrier, StreamJoinCarrier}

/** Refuses conditions of a join of streams that follow from the time of the micro-batch:
  *
  * {{{
  * l JOIN r ON l.k = r.k AND l.ts > current_timestamp() - INTERVAL 1 DAY    refused, as Spark does
  *   WHERE r.ts < l.ts + (current_timestamp() - l.ts) / 2                   refused: part of the condition
  *   WHERE l.ts > current_timestamp() - INTERVAL 1 DAY                      a filter of the left side
  * }}}
  *
  * With each batch it would be another condition; but until when a row waits, and for what, is stored with the row.
  */
object TimeOfBatch {
  def check(query: LogicalPlan): Unit = {
    val named = query.collect { case WithCTE(_, queries) => queries }.flatten
    new TimeOfBatch(named.map(q => q.id -> q.child).toMap).check(query)
  }
}

/** @param named
  *   the queries of WITH
  */
final private class TimeOfBatch(named: Map[Long, LogicalPlan])
    extends AliasHelper
    with PredicateHelper {
  def check(plan: LogicalPlan): Unit = plan match {
    case carrier: StreamJoinCarrier => check(carrier.join)
    case join: Join =>
      if (StreamJoins.isTaken(join)) refuse(join, join.condition)
      join.children.foreach(check)
    case carrier: StreamAsOfCarrier =>
      val join = carrier.join
      refuse(join, join.condition ++ join.check ++ Some(join.best))
      join.children.foreach(check)
    case filter: Filter =>
      if (filter.isStreaming) checkAbove(filter.condition, filter.child)
      check(filter.child)
    case other => other.children.foreach(check)
  }

  /** Spark makes filters above an INNER join part of its condition, and joins INNER whose filters no NULL passes. */
  private def checkAbove(condition: Expression, below: LogicalPlan): Unit = below match {
    case join: Join =>
      if (join.joinType == Inner && StreamJoins.isTaken(join))
        refuse(join, ofBothSides(condition, join))
      checkBelow(condition, join)
    case carrier: StreamJoinCarrier =>
      refuse(carrier.join, ofBothSides(condition, carrier.join))
      checkBelow(condition, carrier.join)
    case Project(columns, child) =>
      checkAbove(replaceAlias(condition, getAliasMap(columns)), child)
    case ref: CTERelationRef =>
      for (query <- named.get(ref.cteId)) {
        val columns = AttributeMap(ref.output.zip(query.output))
        checkAbove(condition.transform { case a: Attribute => columns.getOrElse(a, a) }, query)
      }
    case same: UnaryNode if same.outputSet == same.child.outputSet =>
      checkAbove(condition, same.child)
    case _ => ()
  }

  /** What is said of one side alone is said above the joins of that side. */
  private def checkBelow(condition: Expression, join: Join): Unit = for {
    conjunct <- splitConjunctivePredicates(condition)
    side <- join.children if conjunct.references.subsetOf(side.outputSet)
  } checkAbove(conjunct, side)

  /** Those of one side are filters below the join. */
  private def ofBothSides(condition: Expression, join: Join): Seq[Expression] =
    splitConjunctivePredicates(condition).filterNot { conjunct =>
      join.children.exists(side => conjunct.references.subsetOf(side.outputSet))
    }

  private def refuse(join: LogicalPlan, conditions: Iterable[Expression]): Unit =
    for {
      conjunct <- conditions.flatMap(splitConjunctivePredicates)
      now <- conjunct.find(isTime)
    } throw ClauseError(
      s"The condition ${conjunct.sql} of a join of streams follows from ${now.sql}, which is another time in each " +
        "micro-batch; until when a row waits for its matches is stored with the row. Compare columns, filter one side " +
        "before the join, or the rows after it in foreachBatch; or leave the join to Spark with the hint " +
        "NO_SYMMETRIC_HASH.",
      join.origin
    )

  private def isTime(expression: Expression): Boolean = expression match {
    case _: CurrentTimestampLike | _: CurrentDate | _: CurrentTime | _: LocalTimestamp |
        _: CurrentBatchTimestamp =>
      true
    case _ => false
  }
}
