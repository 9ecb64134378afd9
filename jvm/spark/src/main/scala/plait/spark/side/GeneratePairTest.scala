// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, LeafExpression}
import org.apache.spark.sql.types.DataType

import plait.Side

/** Compiles a [[PairTest]].
  *
  * {{{
  * boolean isTrue() { ... left().getLong(1) ... right().getLong(0) ...; return !isNull_0 && value_0; }
  * }}}
  */
object GeneratePairTest {
  private val Known = Seq("org.apache.spark.", "plait.")

  def generate(in: PairTest.Bound): PairTest.Held = {
    val context = new CodegenContext
    val value = ExpressionCanonicalizer.execute(ofTwoRows(in)).genCode(context)
    val pair = if (in.condition.exists(readsPair)) "pair()" else "null"
    val methods = s"""public void initialize(int partitionIndex) {
          ${context.initPartition()}
        }

        public boolean isTrue() {
          InternalRow ${context.INPUT_ROW} = $pair;
          ${value.code}
          return !${value.isNull} && ${value.value};
        }"""
    GeneratedClass.of(classOf[PairTest.Held], context, methods)
  }

  /** One without code is evaluated of a row; and of one of others it is not known what its code reads. */
  private def readsPair(expression: Expression): Boolean = expression match {
    case _: LeafExpression => false
    case _: CodegenFallback => true
    case other => !Known.exists(other.getClass.getName.startsWith)
  }

  private def ofTwoRows(in: PairTest.Bound): Expression = in.condition.transform {
    case column: BoundReference if column.ordinal < in.columns =>
      PairColumn(column, Side.Left, column.ordinal)
    case column: BoundReference =>
      PairColumn(column, Side.Right, column.ordinal - in.columns)
  }

  /** A column of one of the two rows.
    *
    * @param ofPair
    *   the same of the row of both, for expressions that are evaluated without code
    */
  final private case class PairColumn(ofPair: BoundReference, side: Side, ordinal: Int)
      extends LeafExpression {
    override def dataType: DataType = ofPair.dataType
    override def nullable: Boolean = ofPair.nullable
    override def eval(pair: InternalRow): Any = ofPair.eval(pair)

    override protected def doGenCode(context: CodegenContext, ev: ExprCode): ExprCode = {
      val pair = context.INPUT_ROW
      context.INPUT_ROW = if (side eq Side.Left) "left()" else "right()"
      val code = ofPair.copy(ordinal = ordinal).doGenCode(context, ev)
      context.INPUT_ROW = pair
      code
    }
  }
}
