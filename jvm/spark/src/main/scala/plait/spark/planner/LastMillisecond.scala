// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType}

/** The last millisecond of a window, `window_time`, of the type of the column that the windows are laid over:
  *
  * {{{
  * window_end  10:05:00        window_time  10:04:59.999
  * }}}
  *
  * It is said by the wall clock first. Where that leaves an hour out, Spark's cast takes the hour after it, so
  * that two ends may have one `window_time`; in no other place.
  */
private object LastMillisecond {
  private val Millisecond = 1000L

  /** @param end
    *   where the window ends, by the wall clock
    */
  def of(end: Expression, timeType: DataType): Expression = {
    val micros = PreciseTimestampConversion(end, TimestampNTZType, LongType)
    val last = Subtract(micros, Literal(Millisecond))
    val wall = PreciseTimestampConversion(last, LongType, TimestampNTZType)
    if (timeType == TimestampNTZType) wall
    else Cast(wall, timeType, Some(SQLConf.get.sessionLocalTimeZone))
  }
}
