// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.StructType

import plait.constraint.{Solver, Term}
import plait.interval._
import plait.order.{Direction, Rank}
import plait.spark.stream.EventTimeRank
import plait.spark.translate.{ConditionTranslation, TermTranslation}
import plait.{BySide, Side}

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
    val seen = if (isOfKnown) order else seenThrough(order, plan)
    val times = if (isOfKnown) known else of(seen.references.toSeq)
    times.headOption.flatMap { _ =>
      val rank = new SolvedRank(seen, times, direction)
      // Whether it does is seen at any time.
      Option.when(rank.rankFrom(0L) != Long.MinValue)(rank)
    }
  }

  /** The expression over the columns where its event time comes from. */
  private def seenThrough(expression: Expression, plan: LogicalPlan): Expression =
    if (expression.references.exists(isTime)) expression
    else
      plan match {
        case Project(list, child) =>
          val made = AttributeMap(list.collect { case a: Alias => a.toAttribute -> a.child })
          seenThrough(expression.transform { case a: Attribute => made.getOrElse(a, a) }, child)
        case unary: UnaryNode if expression.references.subsetOf(unary.child.outputSet) =>
          seenThrough(expression, unary.child)
        case generate: Generate => seenThrough(expression, generate.child)
        case _ => expression
      }

  /** One expression over one side, with its event times, for the solver. */
  final private class SolvedRank(order: Expression, times: Seq[Expression], direction: Direction)
      extends EventTimeRank {
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
        state(i) = state(i).intersect(from(micros))
      }
      val possible = solver.forward(state)
      if (possible.values.isEmpty) Long.MinValue
      else
        direction match {
          case Direction.Ascending => rank.low(possible.values.lower)
          case Direction.Descending => ~rank.high(possible.values.upper)
        }
    }
  }

  /** A time of at least so many microseconds, or none. */
  private def from(micros: Long): Possible = Possible(
    IntervalSet.of(Seq(Interval.Span(Bound.Closed(Rational(micros)), Bound.Unbounded))),
    Specials.NullOrNaN
  )

  /** What a later output of a join is after, if later rows of both sides are after something.
    *
    * {{{
    * r.ts BETWEEN l.ts AND l.ts + 1 hour        rows of both sides are after 12:00
    *   a left row may wait for a right one      l.ts after 11:00
    *   a right row waits for no left one        r.ts after 12:00        so 11:00
    * }}}
    */
  final class OfOutput(
      condition: Option[Expression],
      sides: BySide[LogicalPlan],
      kept: Seq[Side]
  ) {
    private val times = sides.map(side => of(side.output))
    private val translation =
      new ConditionTranslation(new TermTranslation(sides.map(_.outputSet)))
    private val whole = translation.term(condition.getOrElse(Literal.TrueLiteral))
    private val terms: BySide[Seq[Term]] = times.map(_.map(translation.term))
    private lazy val solver = new Solver(whole, terms.left ++ terms.right)

    /** @param watermark in milliseconds, as the result */
    def apply(watermark: Long): Option[Long] = {
      val micros = watermark * 1000 + 1
      val least = kept.flatMap(side => terms(side).map(leastOf(_, side, micros)))
      // The event times that no row of the output has say nothing.
      if (least.isEmpty) Some(watermark)
      else Option.when(least.forall(_.isDefined))(math.floorDiv(least.flatten.min - 1, 1000L))
    }

    /** Of a row of `side` that waits for rows of the other to come, or comes itself. */
    private def leastOf(time: Term, side: Side, micros: Long): Option[Long] = {
      val state = solver.initial
      for (other <- terms(side.other)) {
        val i = solver.index(other)
        state(i) = state(i).intersect(from(micros))
      }
      if (!solver.narrow(state)) Some(micros)
      else
        Rank.of(time.domain).flatMap { rank =>
          state(solver.index(time)).values.lower match {
            case Bound.Unbounded => None
            case bound => Some(math.min(rank.low(bound), micros)).filter(_ > LongAgo)
          }
        }
    }
  }

  /** The least times of a type are no promise. */
  private val LongAgo = Long.MinValue / 2
}
