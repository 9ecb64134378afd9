// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, LeafExpression}
import org.apache.spark.sql.types.DataType

/** Compiles a [[PairTest]]: as one method of both rows, with the loops over it,
  *
  * {{{
  * boolean test(UnsafeRow leftRow, UnsafeRow rightRow) { ... leftRow.getLong(1) ...; return !isNull_0 && value_0; }
  * }}}
  *
  * or, where that gets too long for Java to make it quick, or an expression reads the row of both, as methods that find the
  * rows in fields, which Spark splits.
  */
object GeneratePairTest {
  private val Known = Seq("org.apache.spark.", "plait.")

  /** Of more letters a method is likely to have more than the 8,000 bytes of which Java compiles none. */
  private val MostLetters = 16000

  /** Of more expressions it is not tried: code in code in code takes seconds to write. */
  private val MostExpressions = 200

  def generate(in: PairTest.Bound): PairTest.OfCondition = {
    val readsBoth = in.condition.exists(readsPair)
    val isShort = in.condition.collect { case any => any }.sizeIs <= MostExpressions
    // One method may not compile, where it would if it were split.
    def one =
      Try(inOne(in))
        .filter(_.methods.length <= MostLetters)
        .map(compiled(_, classOf[PairTest.OfCondition]))
    def inSeveral =
      compiled(split(in, if (readsBoth) "pair()" else "null"), classOf[PairTest.Held])
    if (readsBoth || !isShort) inSeveral else one.getOrElse(inSeveral)
  }

  final private case class Code(context: CodegenContext, methods: String)

  private def compiled[A <: PairTest.OfCondition](
      code: Code,
      parent: Class[A]
  ): PairTest.OfCondition =
    GeneratedClass.of(
      parent,
      code.context,
      s"""public void initialize(int partitionIndex) {
          ${code.context.initPartition()}
        }
        ${code.methods}"""
    )

  private def inOne(in: PairTest.Bound): Code = {
    val context = new CodegenContext
    // As in code of a whole stage: nothing is split.
    context.INPUT_ROW = null
    context.currentVars = Nil
    val value = coded(in, context, "leftRow", "rightRow")
    val methods = s"""
        private boolean test(UnsafeRow leftRow, UnsafeRow rightRow) {
          ${value.code}
          return !${value.isNull} && ${value.value};
        }

        public boolean isTrueOf(UnsafeRow left, UnsafeRow right) {
          beginTest();
          return test(left, right);
        }

        public int firstLeft(UnsafeRow[] lefts, UnsafeRow right, int[] places, int from, int until) {
          int at = from;
          while (at < until && !test(lefts[places[at]], right)) at++;
          return at;
        }

        public int firstRight(UnsafeRow left, UnsafeRow[] rights, int[] places, int from, int until) {
          int at = from;
          while (at < until && !test(left, rights[places[at]])) at++;
          return at;
        }

        public int firstOf(UnsafeRow left, UnsafeRow[] rights, int from, int until) {
          int at = from;
          while (at < until && !test(left, rights[at])) at++;
          return at;
        }"""
    Code(context, methods)
  }

  private def split(in: PairTest.Bound, both: String): Code = {
    val context = new CodegenContext
    val value = coded(in, context, "left()", "right()")
    val methods = s"""
        public boolean isTrue() {
          InternalRow ${context.INPUT_ROW} = $both;
          ${value.code}
          return !${value.isNull} && ${value.value};
        }"""
    Code(context, methods)
  }

  private def coded(
      in: PairTest.Bound,
      context: CodegenContext,
      left: String,
      right: String
  ): ExprCode = {
    val ofTwoRows = in.condition.transform {
      case column: BoundReference if column.ordinal < in.columns =>
        PairColumn(column, left, column.ordinal)
      case column: BoundReference =>
        PairColumn(column, right, column.ordinal - in.columns)
    }
    GeneratedClass.canonical(ofTwoRows).genCode(context)
  }

  /** One without code is evaluated of a row; and of one of others it is not known what its code reads. */
  private def readsPair(expression: Expression): Boolean =
    GeneratedClass.hasNoCode(expression) || !Known.exists(expression.getClass.getName.startsWith)

  /** A column of one of the two rows.
    *
    * @param ofPair
    *   the same of the row of both, for expressions that are evaluated without code
    * @param row
    *   the name of the row in the code
    */
  final private case class PairColumn(ofPair: BoundReference, row: String, ordinal: Int)
      extends LeafExpression {
    override def dataType: DataType = ofPair.dataType
    override def nullable: Boolean = ofPair.nullable
    override def eval(pair: InternalRow): Any = ofPair.eval(pair)

    override protected def doGenCode(context: CodegenContext, ev: ExprCode): ExprCode = {
      val (pair, vars) = (context.INPUT_ROW, context.currentVars)
      context.INPUT_ROW = row
      context.currentVars = null
      val code = ofPair.copy(ordinal = ordinal).doGenCode(context, ev)
      context.INPUT_ROW = pair
      context.currentVars = vars
      code
    }
  }
}
