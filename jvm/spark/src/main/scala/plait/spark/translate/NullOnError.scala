// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  ConditionalExpression,
  Expression,
  UnaryExpression
}
import org.apache.spark.sql.types.DataType

/** The value of an expression, or NULL where computing it raises an error.
  *
  * Orders and reaches are computed for every row, also for those that never meet a partner, for which
  * Spark would not have computed the condition. An overflow there must not fail the query. A pair for
  * which the error is real is still evaluated by the join's own condition, or is no match anyway.
  *
  * Unlike Spark's `TryEval` it declares that its child is not always evaluated, so that the
  * elimination of common subexpressions does not take a part of the child out of the `try`.
  *
  * It is equal to another only if their children are spelled alike ([[SpelledById]]). Spark takes `(a + b) + c` and
  * `a + (b + c)` for one and computes it once; of doubles these are two, and the two ends of a reach may be made of them.
  */
final case class NullOnError(child: Expression) extends UnaryExpression with ConditionalExpression {
  override def nullable: Boolean = true
  override def dataType: DataType = child.dataType
  override lazy val canonicalized: Expression = NullOnError((new SpelledById)(child))

  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): ConditionalExpression = this
  override def branchGroups: Seq[Seq[Expression]] = Nil

  override def eval(input: InternalRow): Any =
    try child.eval(input)
    catch { case _: Exception => null }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val value = child.genCode(ctx)
    ev.copy(code = code"""
      boolean ${ev.isNull} = true;
      ${CodeGenerator.javaType(dataType)} ${ev.value} = ${CodeGenerator.defaultValue(dataType)};
      try {
        ${value.code}
        ${ev.isNull} = ${value.isNull};
        ${ev.value} = ${value.value};
      } catch (Exception ignored) {
      }""")
  }

  override protected def withNewChildInternal(newChild: Expression): NullOnError =
    copy(child = newChild)
}

object NullOnError {

  /** A column cannot fail. */
  def unlessColumn(expression: Expression): Expression = expression match {
    case column: AttributeReference => column
    case other => NullOnError(other)
  }
}
