// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, LongType}

/** The value of an expression of an [[OrderedType]] as the 64-bit integer that Spark stores for it:
  * `DATE'1970-01-03'` is 2.
  */
final case class OrderValue(child: Expression) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(value: Any): Any = value.asInstanceOf[Number].longValue

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, value => s"(long) $value")

  override protected def withNewChildInternal(newChild: Expression): OrderValue =
    copy(child = newChild)
}
