// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.types._

import plait.interval.Domain

/** The Spark types whose values the core takes as integers, and what they are there.
  *
  * A date is its days, a timestamp and a day-time interval their microseconds: the form in which
  * Spark stores them, so the order of the integers is the order of the values.
  */
object OrderedType {
  def domain(dataType: DataType): Option[Domain] = dataType match {
    case ByteType => Some(Domain.Byte)
    case ShortType => Some(Domain.Short)
    case IntegerType => Some(Domain.Int)
    case LongType => Some(Domain.Long)
    case DateType => Some(Domain.Date)
    case TimestampType => Some(Domain.Timestamp)
    case TimestampNTZType => Some(Domain.TimestampNtz)
    case _: DayTimeIntervalType => Some(Domain.DayTimeInterval)
    case _ => None
  }
}
