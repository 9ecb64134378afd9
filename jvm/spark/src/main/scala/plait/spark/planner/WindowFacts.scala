// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.WindowLast

/** How far a row's time may be from the last instant of its window, for each pair of such columns of a plan:
  *
  * {{{
  * TUMBLE(l, ts, INTERVAL 5 MINUTES)      window_last >= ts
  *                                        wall clock of ts > wall clock of window_last - 5 MINUTES
  * the same, of its window_time           the window_last of that >= window_last
  * }}}
  *
  * They hold of every row in which neither is NULL.
  */
private object WindowFacts {
  def of(plan: LogicalPlan): Seq[Expression] = {
    val (lasts, times) = plan.output.filter(EventTimes.isTime(_)).partition(WindowLast.isColumn)
    val ofTimes = for {
      last <- lasts
      time <- times
      window <- windowOf(last, time, plan).toSeq
      fact <- Seq(GreaterThanOrEqual(last, time), isWithin(window, last, time))
    } yield fact
    // That of a `window_time` follows from that of the window: see LastMillisecond.
    val ofLasts = for {
      last <- lasts
      own <- lasts if windowOf(last, own, plan).isDefined
    } yield GreaterThanOrEqual(last, own)
    ofTimes ++ ofLasts
  }

  private def isWithin(window: WindowLast, last: Attribute, time: Attribute): Expression = {
    def wall(instant: Expression) = WallClockMicros.at(instant, window.timeZoneId)
    GreaterThan(wall(time), Subtract(wall(last), Literal(window.span)))
  }

  /** What one of the columns is, if it is that of the other. */
  private def windowOf(last: Attribute, time: Expression, plan: LogicalPlan): Option[WindowLast] =
    plan match {
      case Project(list, child) =>
        val made = AttributeMap(list.collect { case a: Alias => a.toAttribute -> a.child })
        val seen = time.transform { case a: Attribute => made.getOrElse(a, a) }
        made.get(last) match {
          case Some(window: WindowLast) => Some(window).filter(_.time.semanticEquals(seen))
          case Some(column: Attribute) => windowOf(column, seen, child)
          case Some(_) => None
          case None => windowOf(last, seen, child)
        }
      // A column of theirs has values of several.
      case _: Union | _: Expand => None
      case _ =>
        val columns = time.references + last
        plan.children
          .find(child => columns.subsetOf(child.outputSet))
          .flatMap(windowOf(last, time, _))
    }
}
