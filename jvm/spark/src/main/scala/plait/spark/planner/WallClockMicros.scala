// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, PreciseTimestampConversion}
import org.apache.spark.sql.types.{LongType, TimestampNTZType}

/** What the wall clock shows, as microseconds that can be counted with.
  *
  * {{{
  * 1970-01-01 00:00:01 of a TIMESTAMP_NTZ          1000000
  * 1970-01-01 00:00:01Z in Europe/Berlin           3601000000
  * }}}
  */
private object WallClockMicros {

  /** Of a TIMESTAMP_NTZ. */
  def of(wall: Expression): Expression =
    PreciseTimestampConversion(wall, TimestampNTZType, LongType)

  /** At an instant, or as it is of a TIMESTAMP_NTZ. */
  def at(time: Expression, zone: Option[String]): Expression =
    of(if (time.dataType == TimestampNTZType) time else Cast(time, TimestampNTZType, zone))
}
