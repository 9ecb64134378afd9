// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Max, Min, Sum}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Generate, LogicalPlan, Project, Window}
import org.apache.spark.sql.types._

import plait.spark.plan.WindowShape._
import plait.spark.plan.{ClauseError, WindowEdge, WindowLast, WindowShape}

/** The windows of the rows of a table, in nodes that Spark has: the columns `window_start` and
  * `window_end`, and for each window that a row is in, the row once.
  *
  * {{{
  * t                floor(t)    windows of HOP(slide 5, size 10)
  * 12               10          [10, 20) [5, 15)
  * -1               -5          [-5, 5) [-10, 0)
  * NULL                         none
  * }}}
  *
  *   1. Windows are laid out on the wall clock of the session, and their edges are of the type
  *      TIMESTAMP_NTZ: where a clock goes back, the hour that comes twice is in one window, and a day is a
  *      day of 25 hours. Of a TIMESTAMP_NTZ column the clock has no zone.
  *   1. A row whose time is NULL is in no window.
  *   1. Rows of a session that are equal in its keys are also those whose keys are NULL.
  *
  * @param time
  *   the column that says when a row is
  * @param shown
  *   the columns of the table that come out
  */
final private class WindowLayout(time: Attribute, shown: Seq[Attribute]) {
  import WindowLayout._

  /** When a row is, in microseconds of the wall clock. */
  private val micros: Expression = WallClockMicros.at(time, None)

  def laidOver(table: LogicalPlan, shape: WindowShape, keys: Seq[Expression]): LogicalPlan = {
    val timed = Filter(IsNotNull(time), table)
    shape match {
      case Sliding(slide, size, offset) if slide == size =>
        withEdges(timed, table, shape, floor(size, offset), size)
      case sliding: Sliding => slid(timed, table, sliding)
      case growing: Growing => grown(timed, table, growing)
      case Gapped(gap) => inSessions(timed, table, shape, keys, gap)
    }
  }

  /** Each row once for each window that it may be in, of which it is in all if the slide divides the size. */
  private def slid(timed: LogicalPlan, table: LogicalPlan, shape: Sliding): LogicalPlan = {
    val last = hidden("last", floor(shape.slide, shape.offset))
    val (each, back) = multiplied(added(timed, last), shape, shape.overlap)(_ * shape.slide)
    val first = Subtract(last.toAttribute, back)
    val inside =
      if (shape.size % shape.slide == 0) each
      else Filter(LessThan(micros, Add(first, Literal(shape.size))), each)
    withEdges(inside, table, shape, first, shape.size)
  }

  private def grown(timed: LogicalPlan, table: LogicalPlan, shape: Growing): LogicalPlan = {
    val first = hidden("first", floor(shape.size, shape.offset))
    val (each, length) =
      multiplied(added(timed, first), shape, shape.size / shape.step)(i => (i + 1) * shape.step)
    val end = Add(first.toAttribute, length)
    edges(Filter(LessThan(micros, end), each), table, shape, first.toAttribute, end)
  }

  /** A row begins a session if it is more than the gap after the row before; sessions are counted. */
  private def inSessions(
      timed: LogicalPlan,
      table: LogicalPlan,
      shape: WindowShape,
      written: Seq[Expression],
      gap: Long
  ): LogicalPlan = {
    val at = hidden("at", micros)
    // Spark takes what is no column out of its own windows before; ours come too late for that.
    val (columns, others) = written.partition(_.isInstanceOf[Attribute])
    val computed = others.map(hidden("key", _))
    val keys = columns ++ computed.map(_.toAttribute)
    val order = Seq(SortOrder(at.toAttribute, Ascending))
    val before = over(new Lag(at.toAttribute), keys, order, UnspecifiedFrame)
    val previous = hidden("previous", before)
    val begins = LessThanOrEqual(Subtract(at.toAttribute, previous.toAttribute), Literal(gap))
    val counted = Sum(If(Coalesce(Seq(begins, Literal(false))), Literal(0L), Literal(1L)))
    val session =
      hidden("session", over(counted.toAggregateExpression(), keys, order, UntilThisRow))
    val group = keys :+ session.toAttribute
    val first = hidden("first", over(Min(at.toAttribute).toAggregateExpression(), group, Nil, All))
    val last = hidden("last", over(Max(at.toAttribute).toAggregateExpression(), group, Nil, All))
    val inOrder = Window(Seq(previous), keys, order, added(timed, at +: computed: _*))
    val inSession = Window(Seq(session), keys, order, inOrder)
    val whole = Window(Seq(first, last), group, Nil, inSession)
    edges(whole, table, shape, first.toAttribute, Add(last.toAttribute, Literal(gap)))
  }

  /** The last instant at or before a row's at which a window begins, as Spark writes it of its own windows. */
  private def floor(slide: Long, offset: Long): Expression = {
    val past = Remainder(Subtract(micros, Literal(offset)), Literal(slide))
    val distance =
      CaseWhen(Seq(LessThan(past, Literal(0L)) -> Add(past, Literal(slide))), Some(past))
    Subtract(micros, distance)
  }

  private def multiplied(child: LogicalPlan, shape: WindowShape, times: Long)(
      value: Long => Long
  ): (LogicalPlan, Expression) = {
    if (times > MostWindows)
      throw ClauseError(
        s"With ${shape.sql} a row is in up to $times windows, more than $MostWindows",
        time.origin
      )
    val longs = Array.tabulate(times.toInt)(i => value(i.toLong))
    val of = AttributeReference("window", LongType, nullable = false)()
    val each = Explode(Literal.create(longs, ArrayType(LongType, containsNull = false)))
    (Generate(each, Nil, outer = false, None, Seq(of), child), of)
  }

  private def withEdges(
      rows: LogicalPlan,
      table: LogicalPlan,
      shape: WindowShape,
      first: Expression,
      size: Long
  ): LogicalPlan = edges(rows, table, shape, first, Add(first, Literal(size)))

  private def edges(
      rows: LogicalPlan,
      table: LogicalPlan,
      shape: WindowShape,
      first: Expression,
      last: Expression
  ): LogicalPlan = {
    def edge(end: WindowEdge.End, micros: Expression) = {
      val instant = PreciseTimestampConversion(micros, LongType, TimestampNTZType)
      val value = WindowEdge(end, shape, time.dataType, instant)
      Alias(value, end.name)(qualifier = time.qualifier)
    }
    val laid = shown ++ Seq(edge(WindowEdge.First, first), edge(WindowEdge.Last, last))
    val lasts = lastInstants(table, shape, first, last)
    if (lasts.isEmpty) Project(laid, rows)
    else Project(laid.map(_.toAttribute), Project(laid ++ lasts, rows))
  }

  /** Of a stream also what carries its watermark on, which nobody sees who does not ask for it: see
    * [[WindowLasts]]. Windows of one start that grow are over with the longest of them.
    */
  private def lastInstants(
      table: LogicalPlan,
      shape: WindowShape,
      first: Expression,
      last: Expression
  ): Seq[Alias] = {
    val marked = table.output.find(_.exprId == time.exprId).filter(EventTimes.isTime)
    def column(of: WindowEdge.End, end: Expression, span: Long)(marked: Attribute) =
      WindowLast(end, marked, of, span).columnOf(marked)
    val made =
      if (!table.isStreaming) Nil
      else
        shape match {
          case Sliding(_, size, _) => Seq(column(WindowEdge.Last, last, size) _)
          case Growing(_, size, _) =>
            Seq(
              column(WindowEdge.Last, last, size) _,
              column(WindowEdge.First, Add(first, Literal(size)), size) _
            )
          case Gapped(_) => Nil
        }
    made.flatMap(column => marked.map(column))
  }
}

private object WindowLayout {

  /** So many windows of a row are more likely a slip than meant. */
  private val MostWindows = 1000000L

  private val UntilThisRow = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
  private val All = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, UnboundedFollowing)

  private def hidden(name: String, value: Expression): Alias = Alias(value, name)()

  private def added(child: LogicalPlan, columns: Alias*): LogicalPlan =
    Project(child.output ++ columns, child)

  private def over(
      function: Expression,
      keys: Seq[Expression],
      order: Seq[SortOrder],
      frame: WindowFrame
  ): Expression = WindowExpression(function, WindowSpecDefinition(keys, order, frame))
}
