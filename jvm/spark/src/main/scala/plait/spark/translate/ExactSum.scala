// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  Add,
  BinaryArithmetic,
  BinaryExpression,
  EvalMode,
  Expression,
  Literal,
  Subtract
}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

/** A sum or difference of two INTs or BIGINTs in ANSI mode, that makes no object:
  *
  * {{{
  * l.s - 5        s - 5, and if that is beyond a long, Spark's own error
  * }}}
  *
  * Spark's own goes through a function whose result is an object where a JVM has compiled more than one kind of them, and a
  * join asks for it for each pair.
  *
  * @param ofSpark
  *   the same, which raises the error
  */
final case class ExactSum(left: Expression, right: Expression, ofSpark: BinaryArithmetic)
    extends BinaryExpression {
  override def dataType: DataType = ofSpark.dataType
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(a: Any, b: Any): Any =
    try
      (a, b) match {
        case (x: Long, y: Long) => if (isSum) Math.addExact(x, y) else Math.subtractExact(x, y)
        case _ =>
          val (x, y) = (a.asInstanceOf[Int], b.asInstanceOf[Int])
          if (isSum) Math.addExact(x, y) else Math.subtractExact(x, y)
      }
    catch { case _: ArithmeticException => failed(a, b) }

  private def isSum: Boolean = ofSpark.isInstanceOf[Add]

  /** Spark's error, for a sum that has one. */
  def failed(a: Any, b: Any): Any =
    ofSpark.withNewChildren(Seq(Literal(a, dataType), Literal(b, dataType))).eval()

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    // Without its operands: it goes where the code goes.
    val alone = copy(left = ofSpark.left, right = ofSpark.right)
    val self = ctx.addReferenceObj("sum", alone, classOf[ExactSum].getName)
    val symbol = if (isSum) "+" else "-"
    nullSafeCodeGen(
      ctx,
      ev,
      (a, b) =>
        if (dataType == LongType) {
          // Both have the other sign than the result; or of a difference the first, and the second its sign.
          val isBeyond =
            if (isSum) s"((($a) ^ ${ev.value}) & (($b) ^ ${ev.value})) < 0L"
            else s"((($a) ^ ($b)) & (($a) ^ ${ev.value})) < 0L"
          s"""
            ${ev.value} = ($a) $symbol ($b);
            if ($isBeyond) $self.failed($a, $b);
          """
        } else {
          val wide = ctx.freshName("wide")
          s"""
            long $wide = (long) ($a) $symbol (long) ($b);
            ${ev.value} = (int) $wide;
            if (${ev.value} != $wide) $self.failed($a, $b);
          """
        }
    )
  }

  /** In Spark's words. */
  override def toString: String = ofSpark.withNewChildren(Seq(left, right)).toString
  override def sql: String = ofSpark.withNewChildren(Seq(left, right)).sql

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): ExactSum = copy(left = newLeft, right = newRight)
}

object ExactSum {

  /** The same condition with those of Spark's sums replaced that would make objects. */
  def in(condition: Expression): Expression = condition.transformUp {
    case sum: Add if is(sum, sum.evalMode) => ExactSum(sum.left, sum.right, alone(sum))
    case sum: Subtract if is(sum, sum.evalMode) => ExactSum(sum.left, sum.right, alone(sum))
  }

  private def is(sum: BinaryArithmetic, mode: EvalMode.Value): Boolean =
    mode == EvalMode.ANSI && (sum.dataType == LongType || sum.dataType == IntegerType)

  /** Its operands are given anew when it is asked. */
  private def alone(sum: BinaryArithmetic): BinaryArithmetic = {
    val zero = Literal.default(sum.dataType)
    sum.withNewChildren(Seq(zero, zero)).asInstanceOf[BinaryArithmetic]
  }
}
