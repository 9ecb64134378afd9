// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types._

/** The last value of a type, at or before which every version of a key has begun: the best row there is the
  * newest. As no row comes later, the rows of neither side need an order.
  *
  * {{{
  * PROCTIME(), r.since BIGINT        9223372036854775807 >= r.since
  * }}}
  */
object EndOfTime {
  def of(dataType: DataType): Option[Literal] = dataType match {
    case TimestampType | TimestampNTZType | LongType => Some(Literal(Long.MaxValue, dataType))
    case DateType | IntegerType => Some(Literal(Int.MaxValue, dataType))
    case _ => None
  }

  /** Is the best row the newest of all? */
  def isAskedBy(best: BestMatch): Boolean =
    best.direction == MatchDirection.AtOrBefore && best.within.isEmpty &&
      of(best.left.dataType).contains(best.left)
}
