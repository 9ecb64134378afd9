// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.internal.SQLConf

import plait.spark.RecentlyUsed

/** Compiles a [[SideReader]]: the expressions of a side write its fields, without a row between.
  *
  * {{{
  * rank:     isNull_0 ... value_0 ...        hasRank_$eq(!isNull_0); rank_$eq(value_0);
  * ends:     the same                        reaches only if none of the three is NULL
  * key:      only for a row that reaches     keyValue_$eq(...), or keyIs(a text), or key_$eq(a row)
  * }}}
  *
  * A class that takes no object along, as the place in a query that an error names, is kept by its expressions for the
  * tasks to come: to write its source for each of them takes longer than to read a thousand rows.
  */
object GenerateSideReader {

  def generate(in: SideExpressionsToRead): SideReader = {
    val wanted = Wanted(in, Thread.currentThread.getContextClassLoader)
    kept.get(wanted).fold(write(in, wanted))(_.generate(Array.empty).asInstanceOf[SideReader])
  }

  private def write(in: SideExpressionsToRead, wanted: Wanted): SideReader = {
    val context = new CodegenContext
    val elimination = SQLConf.get.subexpressionEliminationEnabled
    val values = context.generateExpressions(in.ranks.map(canonical), elimination)
    val shared = context.subexprFunctionsCode
    val ranks = context.splitExpressionsWithCurrentInputs(
      values.zip(Seq("rank", "low", "high")).map { case (value, field) => stored(value, field) }
    )
    val key = keyCode(context, in.key)
    val made = compiled(context, s"reaches_$$eq(true);\n$shared\n$ranks\nif (reaches()) {\n$key\n}")
    if (context.references.isEmpty) kept.put(wanted, made)
    made.generate(context.references.toArray).asInstanceOf[SideReader]
  }

  private val kept = new RecentlyUsed[Wanted, GeneratedClass](most = 100)

  /** What a class was compiled of; equal expressions may call classes of two sessions. */
  final private case class Wanted(in: SideExpressionsToRead, loader: ClassLoader)

  private def canonical(expression: Expression): Expression =
    ExpressionCanonicalizer.execute(expression)

  /** NULL in one of the three: the row reaches nothing. */
  private def stored(value: ExprCode, field: String): String = {
    val seen = if (field == "rank") s"hasRank_$$eq(!${value.isNull});" else ""
    s"""${value.code}
       |$seen
       |if (${value.isNull}) reaches_$$eq(false); else ${field}_$$eq(${value.value});""".stripMargin
  }

  private def keyCode(context: CodegenContext, form: KeyForm): String = form match {
    case KeyForm.Whole(expression) => oneKey(context, expression, "keyValue_$eq")
    case KeyForm.Text(expression) => oneKey(context, expression, "keyIs")
    case KeyForm.Columns(expressions) =>
      val row = GenerateUnsafeProjection.createCode(context, expressions.map(canonical))
      s"""${row.code}
         |key_$$eq(${row.value});
         |reaches_$$eq(!${row.value}.anyNull());""".stripMargin
  }

  private def oneKey(context: CodegenContext, expression: Expression, taken: String): String = {
    val value = canonical(expression).genCode(context)
    s"""${value.code}
       |if (${value.isNull}) reaches_$$eq(false); else $taken(${value.value});""".stripMargin
  }

  private def compiled(context: CodegenContext, body: String): GeneratedClass = {
    val name = "SpecificSideReader"
    val source = s"""
      public Object generate(Object[] references) { return new $name(references); }

      class $name extends ${classOf[SideReader].getName} {
        private Object[] references;
        ${context.declareMutableStates()}

        public $name(Object[] references) {
          this.references = references;
          ${context.initMutableStates()}
        }

        public void evaluate(InternalRow ${context.INPUT_ROW}) {
          $body
        }

        ${context.declareAddedFunctions()}
      }"""
    val code = new CodeAndComment(source, context.getPlaceHolderToComments())
    CodeGenerator.compile(CodeFormatter.stripOverlappingComments(code))._1
  }
}
