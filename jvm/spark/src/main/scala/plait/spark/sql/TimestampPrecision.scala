// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.SqlBaseParser._
import org.apache.spark.sql.execution.SparkSqlAstBuilder
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType

/** Reads TIMESTAMP(3), which queries with window functions often bring along and Spark does not know, in a
  * cast:
  *
  * {{{
  * CAST(t AS TIMESTAMP(3))     10:00:00.123456 becomes 10:00:00.123
  * TIMESTAMP(0)                seconds
  * TIMESTAMP(6)                Spark's own
  * }}}
  *
  * Digits beyond are cut off, not rounded. Of other precisions Spark says what it takes.
  */
trait TimestampPrecision extends SparkSqlAstBuilder {
  import TimestampPrecision._

  override def visitPrimitiveDataType(context: PrimitiveDataTypeContext): DataType =
    if (unit(context).isDefined) SQLConf.get.timestampType
    else super.visitPrimitiveDataType(context)

  override def visitCast(context: CastContext): Expression =
    unit(context.dataType).fold(super.visitCast(context))(cut(super.visitCast(context), _))

  override def visitCastByColon(context: CastByColonContext): Expression =
    unit(context.dataType).fold(super.visitCastByColon(context))(
      cut(super.visitCastByColon(context), _)
    )
}

private object TimestampPrecision {
  private val Units = Map("0" -> "SECOND", "3" -> "MILLISECOND", "6" -> "MICROSECOND")
  private val Written = "(?i)TIMESTAMP\\(([036])\\)".r

  private def unit(dataType: DataTypeContext): Option[String] = dataType.getText match {
    case Written(digits) => Some(Units(digits))
    case _ => None
  }

  private def cut(cast: Expression, unit: String): Expression =
    Cast(TruncTimestamp(Literal(unit), cast), SQLConf.get.timestampType)
}
