// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.UUID
import java.util.concurrent.ThreadLocalRandom

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedEventTimeWatermark}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal, Subtract}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import plait.spark.PlaitConf
import plait.spark.plan.Claim

/** The watermarks that tables declare of themselves, where they are read as streams:
  *
  * {{{
  * ALTER TABLE t SET TBLPROPERTIES ('plait.watermark' = 'ts - INTERVAL 20 SECONDS')
  *
  * FROM STREAM t                                       WATERMARK ts DELAY OF INTERVAL 20 SECONDS
  * FROM STREAM t WATERMARK ts2 DELAY OF ...            as the query says, and nothing else
  * }}}
  *
  * It is put on the relation before the columns above are bound, which then know that they are event times. A
  * DataFrame of the table is analysed before its `withWatermark` is known; that takes the table's away.
  */
object WatermarkedTables extends Rule[LogicalPlan] {
  private val Property = "plait.watermark"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.isStreaming || !PlaitConf(SQLConf.get).enabled) plan
    else marked(plan, isMarked = false)

  private def marked(plan: LogicalPlan, isMarked: Boolean): LogicalPlan = plan match {
    case relation @ (_: StreamingRelation | _: StreamingRelationV2) =>
      if (isMarked) relation else ofTable(relation)
    case ours: EventTimeWatermark if isOurs(ours) =>
      if (isMarked) marked(ours.child, isMarked) else ours
    case _: EventTimeWatermark | _: UnresolvedEventTimeWatermark =>
      plan.mapChildren(marked(_, isMarked = true))
    case _: SubqueryAlias | _: View | _: Project | _: Filter | _: ResolvedHint | _: UnresolvedHint |
        _: Claim =>
      plan.mapChildren(marked(_, isMarked))
    case other => other.mapChildren(marked(_, isMarked = false))
  }

  private def ofTable(relation: LogicalPlan): LogicalPlan = (for {
    (table, property) <- TableProperties.of(relation)
    text <- property(Property)
  } yield {
    val (time, delay) =
      watermark(text, relation).getOrElse(throw wrong(table, text, relation))
    EventTimeWatermark(newId(), time, delay, relation)
  }).getOrElse(relation)

  private def watermark(
      text: String,
      relation: LogicalPlan
  ): Option[(Attribute, CalendarInterval)] = for {
    (name, delay) <- Try(CatalystSqlParser.parseExpression(text)).toOption.flatMap(parts)
    column <- Try(relation.resolve(name.nameParts, conf.resolver)).toOption.flatten
    time <- Some(column).collect { case time: Attribute if isTime(time.dataType) => time }
  } yield (time, delay)

  private def parts(expression: Expression): Option[(UnresolvedAttribute, CalendarInterval)] =
    expression match {
      case name: UnresolvedAttribute => Some((name, delay(0)))
      case Subtract(name: UnresolvedAttribute, Literal(micros: Long, _: DayTimeIntervalType), _)
          if micros >= 0 =>
        Some((name, delay(micros)))
      case _ => None
    }

  private def delay(micros: Long) = new CalendarInterval(0, 0, micros)

  private def isTime(dataType: DataType) =
    dataType == TimestampType

  private def wrong(table: String, text: String, relation: LogicalPlan) = {
    val times = relation.output.filter(column => isTime(column.dataType)).map(_.name)
    TableProperties.wrong(
      table,
      Property,
      text,
      "a column that is a timestamp, less by how much rows may come late, as " +
        s"'${times.headOption.getOrElse("ts")} - INTERVAL 20 SECONDS'; its timestamps are " +
        (if (times.isEmpty) "none" else times.mkString(", "))
    )
  }

  // The id of a watermark is any that is its own; by one half of it ours are known.
  private val Ours = 0x706c61697477616dL
  private def newId(): UUID = new UUID(Ours, ThreadLocalRandom.current().nextLong())
  private def isOurs(watermark: EventTimeWatermark): Boolean =
    watermark.nodeId.getMostSignificantBits == Ours
}
