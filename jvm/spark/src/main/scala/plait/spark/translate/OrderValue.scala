// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, UnaryExpression}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import plait.order.Rank

/** The [[Rank]] of the value of an expression of an [[OrderedType]], NULL for NULL: `DATE'1970-01-03'`
  * is 2, `1.25` as a decimal(9, 2) is 125.
  */
final case class OrderValue(child: Expression) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(value: Any): Any = child.dataType match {
    case t: DecimalType if t.precision <= Decimal.MAX_LONG_DIGITS =>
      value.asInstanceOf[Decimal].toUnscaledLong
    case t: DecimalType =>
      Rank.ofLongDecimal(
        value.asInstanceOf[Decimal].toJavaBigDecimal.unscaledValue,
        t.precision
      )
    case FloatType => Rank.ofDouble(value.asInstanceOf[Float].toDouble)
    case DoubleType => Rank.ofDouble(value.asInstanceOf[Double])
    case StringType => Rank.ofText(value.asInstanceOf[UTF8String].getPrefix)
    case BooleanType => if (value.asInstanceOf[Boolean]) 1L else 0L
    case _ => value.asInstanceOf[Number].longValue
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val rank = Rank.getClass.getName.stripSuffix("$")
    defineCodeGen(
      ctx,
      ev,
      value =>
        child.dataType match {
          case t: DecimalType if t.precision <= Decimal.MAX_LONG_DIGITS =>
            s"$value.toUnscaledLong()"
          case t: DecimalType =>
            s"$rank.ofLongDecimal($value.toJavaBigDecimal().unscaledValue(), ${t.precision})"
          case FloatType | DoubleType => s"$rank.ofDouble((double) $value)"
          case StringType => s"$rank.ofText($value.getPrefix())"
          case BooleanType => s"($value ? 1L : 0L)"
          case _ => s"(long) $value"
        }
    )
  }

  override protected def withNewChildInternal(newChild: Expression): OrderValue =
    copy(child = newChild)
}

object OrderValue {

  /** The only value of this type and rank; None if there is none, or more. */
  def value(rank: Long, dataType: DataType): Option[Literal] = dataType match {
    case _ if !isWhole(dataType) => None
    case FloatType => Some(Literal(Rank.toDouble(rank).toFloat))
    case DoubleType => Some(Literal(Rank.toDouble(rank)))
    case t: DecimalType => Some(Literal(Decimal(rank, t.precision, t.scale), t))
    case BooleanType => Some(Literal(rank > 0))
    case ByteType => Some(Literal(rank.toByte))
    case ShortType => Some(Literal(rank.toShort))
    case IntegerType | DateType | _: YearMonthIntervalType => Some(Literal(rank.toInt, dataType))
    case _ => Some(Literal(rank, dataType))
  }

  /** Have values of this type a rank? */
  def exists(dataType: DataType): Boolean = dataType match {
    case StringType | _: DecimalType => true
    case other => isWhole(other)
  }

  /** Does no other value of this type have the same rank? */
  def isWhole(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType |
        DateType | TimestampType | TimestampNTZType =>
      true
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case decimal: DecimalType => decimal.precision <= Decimal.MAX_LONG_DIGITS
    case _ => false
  }
}
