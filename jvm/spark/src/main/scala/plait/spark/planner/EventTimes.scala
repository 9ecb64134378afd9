// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.StructType

import plait.BySide
import plait.constraint.Solver
import plait.interval._
import plait.order.{Direction, FollowingRank, Rank}
import plait.spark.stream.EventTimeRank
import plait.spark.translate.{ConditionTranslation, TermTranslation}

/** What the event times of a stream say of the values of an expression over its rows.
  *
  * {{{
  * WATERMARK ts DELAY OF INTERVAL 10 MINUTES        later rows have ts > w
  * window_start, of 5 minutes                       later rows have window_start >= floor5(w)
  * date_trunc('HOUR', ts), ts + INTERVAL 1 HOUR     as the interval arithmetic finds
  * }}}
  *
  * An expression is looked at through the projections below, down to where a column is an event time.
  */
object EventTimes {

  /** The event times among these columns, each as a time: of a window it is its end. */
  def of(columns: Seq[Attribute]): Seq[Expression] = columns.filter(isTime).map(time)

  def isTime(expression: Expression): Boolean = expression match {
    case column: Attribute => column.metadata.contains(EventTimeWatermark.delayKey)
    case _ => false
  }

  /** The time that a value is or that a window ends. */
  def time(column: Expression): Expression = column.dataType match {
    case window: StructType if window.fieldNames.contains("end") =>
      GetStructField(column, window.fieldIndex("end"), Some("end"))
    case _ => column
  }

  /** How the least rank of an order of `plan`'s rows follows from their event times, if it does.
    * @param known
    *   those of its columns
    */
  def rankOf(
      order: Expression,
      direction: Direction,
      plan: LogicalPlan,
      known: Seq[Expression]
  ): Option[EventTimeRank] = {
    val isOfKnown = known.exists(time => order.exists(_.semanticEquals(time)))
    val (seen, at) = if (isOfKnown) (order, plan) else seenThrough(order, plan)
    val times =
      if (isOfKnown) known.filter(time => order.exists(_.semanticEquals(time)))
      else of(seen.references.toSeq)
    times.headOption.flatMap { _ =>
      val from = times.map(source(_, at)) match {
        case Seq(only) => only
        case _ => None
      }
      val rank = new SolvedRank(seen, times, direction, from)
      Option.when(FollowingRank.rises(rank.rankFrom))(rank)
    }
  }

  /** The expression over the columns where its event time comes from, and the plan that has them. */
  private def seenThrough(expression: Expression, plan: LogicalPlan): (Expression, LogicalPlan) =
    if (expression.references.exists(isTime)) (expression, plan)
    else
      Lineage
        .below(expression, plan)
        .fold((expression, plan)) { case (seen, child) => seenThrough(seen, child) }

  /** The column whose watermark a time is known by, if it is that of one node below. */
  private def source(time: Expression, plan: LogicalPlan): Option[ExprId] = plan match {
    case mark: EventTimeWatermark
        if time.references.exists(_.exprId == mark.eventTime.toAttribute.exprId) =>
      Some(mark.eventTime.toAttribute.exprId)
    case _ => Lineage.below(time, plan).flatMap { case (seen, child) => source(seen, child) }
  }

  /** One expression over one side, with its event times, for the solver. */
  final private class SolvedRank(
      order: Expression,
      times: Seq[Expression],
      direction: Direction,
      val from: Option[ExprId]
  ) extends EventTimeRank {
    private val translation =
      new ConditionTranslation(
        new TermTranslation(BySide(order.references ++ AttributeSet(times), AttributeSet.empty))
      )
    private val term = translation.term(order)
    private val timeTerms = times.map(translation.term)
    private val solver = new Solver(term, timeTerms)
    private val rank = Rank.of(term.domain)

    def rankFrom(micros: Long): Long = rank.fold(Long.MinValue) { rank =>
      val state = solver.initial
      for (time <- timeTerms) {
        val i = solver.index(time)
        state(i) = state(i).intersect(since(micros))
      }
      rank.first(solver.forward(state), direction)
    }
  }

  /** A time of at least so many microseconds, or none. */
  private[planner] def since(micros: Long): Possible = Possible(
    IntervalSet.of(Seq(Interval.Span(Bound.Closed(Rational(micros)), Bound.Unbounded))),
    Specials.NullOrNaN
  )
}
