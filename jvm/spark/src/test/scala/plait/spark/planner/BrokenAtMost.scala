// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.types.{BooleanType, DataType}

/** left <= right of BIGINT, which Spark takes, and at which the translation of conditions fails. */
final private case class BrokenAtMost(left: Expression, right: Expression)
    extends BinaryExpression
    with CodegenFallback {
  override def nullIntolerant: Boolean = true
  override def dataType: DataType = {
    val callers = Thread.currentThread.getStackTrace.map(_.getClassName)
    if (callers.exists(_.startsWith("plait.spark.translate")))
      throw new IllegalStateException("no such value")
    BooleanType
  }
  override protected def nullSafeEval(l: Any, r: Any): Any =
    l.asInstanceOf[Long] <= r.asInstanceOf[Long]
  override protected def withNewChildrenInternal(l: Expression, r: Expression): BrokenAtMost =
    copy(l, r)
}
