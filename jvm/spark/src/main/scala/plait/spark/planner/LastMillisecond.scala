// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType, TimestampType}

import plait.spark.plan.{WindowEdge, WindowLast}

/** `window_time`: the last millisecond of a window, of the type of the column that the windows are laid over.
  *
  * {{{
  * window_end  10:05:00        window_time  10:04:59.999
  * }}}
  *
  * A TIMESTAMP of it is one instant for a time of the wall clock that comes twice, the first, and for one that is left out
  * the instant as far behind the jump. So windows may share it that end at different times: those rows are one group.
  */
private object LastMillisecond {
  private val Millisecond = 1000L

  /** @param end
    *   when the window ends, by the wall clock
    */
  def of(end: Expression, timeType: DataType): Expression = {
    val last = Subtract(WallClockMicros.of(end), Literal(Millisecond))
    val wall = PreciseTimestampConversion(last, LongType, TimestampNTZType)
    if (timeType == TimestampNTZType) wall else Cast(wall, timeType)
  }

  /** The column that says when the window ends. */
  def unapply(time: Expression): Option[Attribute] = time match {
    case Cast(wall, TimestampType, _, _) => ofWall(wall)
    case wall => ofWall(wall)
  }

  private def ofWall(wall: Expression): Option[Attribute] = wall match {
    case PreciseTimestampConversion(
          Subtract(
            PreciseTimestampConversion(end: Attribute, TimestampNTZType, LongType),
            Literal(Millisecond, LongType),
            _
          ),
          LongType,
          TimestampNTZType
        ) =>
      Some(end)
    case _ => None
  }

  /** The latest of the last instants of windows that have this time.
    * @param last
    *   that of the row's own window
    */
  def lastInstant(time: Expression, last: Attribute): WindowLast = {
    // Where a view was made in another zone, the one that it was made in.
    val zone = time match {
      case Cast(_, _, Some(zone), _) => zone
      case _ => SQLConf.get.sessionLocalTimeZone
    }
    val end = Add(WallClockMicros.at(time, Some(zone)), Literal(Millisecond))
    WindowLast(end, last, WindowEdge.Last, 0L, Some(zone))
  }
}
