// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import org.antlr.v4.runtime.RuleContext
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.SqlBaseParser._
import org.apache.spark.sql.execution.SparkSqlAstBuilder
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, TimestampNTZType, TimestampType}

import plait.spark.plan.ClauseError

/** Reads TIMESTAMP(3), which queries with window functions often bring along and Spark does not know, in a
  * cast:
  *
  * {{{
  * CAST(t AS TIMESTAMP(3))     10:00:00.123456 becomes 10:00:00.123
  * TIMESTAMP(0)                seconds
  * TIMESTAMP(6)                Spark's own
  * }}}
  *
  * Digits beyond are cut off, not rounded. Within another type, as `ARRAY<TIMESTAMP(3)>`, they cannot be cut: that
  * is an error. Of other precisions Spark says what it takes.
  */
trait TimestampPrecision extends SparkSqlAstBuilder {
  import TimestampPrecision._

  override def visitPrimitiveDataType(context: PrimitiveDataTypeContext): DataType =
    unit(context).fold(super.visitPrimitiveDataType(context)) { unit =>
      if (unit != Whole && !isCast(context.getParent))
        throw ClauseError(
          s"${context.getText} is the type of a CAST as a whole, and not within another type: cut the digits by " +
            s"date_trunc('$unit', ...)",
          ClauseError.origin(context.getStart, context.getStop)
        )
      SQLConf.get.timestampType
    }

  override def visitCast(context: CastContext): Expression =
    unit(context.dataType).fold(super.visitCast(context))(cut(super.visitCast(context), _))

  override def visitCastByColon(context: CastByColonContext): Expression =
    unit(context.dataType).fold(super.visitCastByColon(context))(
      cut(super.visitCastByColon(context), _)
    )
}

private object TimestampPrecision {
  private val Whole = "MICROSECOND"
  private val Units = Map("0" -> "SECOND", "3" -> "MILLISECOND", "6" -> Whole)
  private val Written = "(?i)TIMESTAMP\\(([036])\\)".r

  private def unit(dataType: DataTypeContext): Option[String] = dataType.getText match {
    case Written(digits) => Some(Units(digits))
    case _ => None
  }

  private def isCast(context: RuleContext): Boolean = context match {
    case _: CastContext | _: CastByColonContext => true
    case _ => false
  }

  /** What is shown on a clock without a zone is cut as if it were in UTC, which has every time. */
  private def cut(cast: Expression, unit: String): Expression =
    SQLConf.get.timestampType match {
      case TimestampNTZType =>
        val moment = Cast(cast, TimestampType, Some("UTC"))
        Cast(TruncTimestamp(Literal(unit), moment, Some("UTC")), TimestampNTZType, Some("UTC"))
      case zoned => Cast(TruncTimestamp(Literal(unit), cast), zoned)
    }
}
