// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.types.DayTimeIntervalType

import plait.spark.plan.StateTtl

/** The hint `STATE_TTL(relation, interval)`: how long a join of streams remembers the relation's rows.
  *
  * {{{
  * SELECT /*+ STATE_TTL(l, INTERVAL 1 DAY) */ ...      df.hint("STATE_TTL", "INTERVAL 1 DAY")
  * }}}
  */
object StateTtlHint {
  val Name = "STATE_TTL"

  def resolved(hint: UnresolvedHint): LogicalPlan = hint.parameters match {
    case Seq(relation, interval) =>
      val name = HintedRelations.name(relation).getOrElse(throw wrong(hint))
      val length = lengthOf(interval, hint)
      HintedRelations.changed(Name, name, hint.child)(StateTtl.of(length, name.mkString("."), _))
    case Seq(interval) if HintedRelations.isOfDataFrame(hint) =>
      val name = HintedRelations.nameOfWhole(hint.child)
      StateTtl.of(lengthOf(interval, hint), name, hint.child)
    case _ => throw wrong(hint)
  }

  /** In microseconds. */
  private def lengthOf(interval: Any, hint: UnresolvedHint): Long =
    DeclaredOrder.slack(interval) match {
      case Some(Literal(micros: Long, _: DayTimeIntervalType)) if micros > 0 => micros
      case _ => throw wrong(hint)
    }

  private def wrong(hint: UnresolvedHint) = new IllegalArgumentException(
    "The hint STATE_TTL takes a relation and for how long a join of streams remembers its rows, an interval of days, hours, minutes " +
      "or seconds that is more than nothing: STATE_TTL(l, INTERVAL 1 DAY). It was " +
      s"${HintedRelations.written(Name, hint.parameters)}."
  )
}
