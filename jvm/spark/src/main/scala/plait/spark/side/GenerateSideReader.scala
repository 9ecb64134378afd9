// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.internal.SQLConf

/** Compiles a [[SideReader]]: the expressions of a side write its fields, without a row between.
  *
  * {{{
  * rank:     isNull_0 ... value_0 ...        hasRank_$eq(!isNull_0); rank_$eq(value_0);      perhaps from knownRank()
  * ends:     the same                        reaches only if none of the three is NULL
  * key:      only for a row that reaches     keyValue_$eq(...), or keyLiesIn(row, column), keyIs(a text), or key_$eq(a row)
  * }}}
  */
object GenerateSideReader {

  def generate(in: SideExpressionsToRead): SideReader = {
    val context = new CodegenContext
    // Before there is anything shared: a projection computes all that is shared so far, again.
    val key = keyCode(context, in.key)
    val elimination = SQLConf.get.subexpressionEliminationEnabled
    val values =
      context.generateExpressions(KnownRank.in(in.ranks).map(GeneratedClass.canonical), elimination)
    val shared = context.subexprFunctionsCode
    val ranks = context.splitExpressionsWithCurrentInputs(
      values.zip(Seq("rank", "low", "high")).map { case (value, field) => stored(value, field) }
    )
    GeneratedClass.of(
      classOf[SideReader],
      context,
      s"""public void read(InternalRow source, long known) {
          take(source, known);
          InternalRow ${context.INPUT_ROW} = row();
          reaches_$$eq(true);
          $shared
          $ranks
          if (reaches()) {
            $key
          }
        }"""
    )
  }

  /** NULL in one of the three: the row reaches nothing. */
  private def stored(value: ExprCode, field: String): String = {
    val seen = if (field == "rank") s"hasRank_$$eq(!${value.isNull});" else ""
    s"""${value.code}
       |$seen
       |if (${value.isNull}) reaches_$$eq(false); else ${field}_$$eq(${value.value});""".stripMargin
  }

  private def keyCode(context: CodegenContext, form: KeyForm): String = form match {
    case KeyForm.Whole(expression) => oneKey(context, expression, "keyValue_$eq")
    case KeyForm.Text(column: BoundReference) =>
      s"""if (${context.INPUT_ROW}.isNullAt(${column.ordinal})) reaches_$$eq(false);
         |else keyLiesIn(row(), ${column.ordinal});""".stripMargin
    case KeyForm.Text(expression) => oneKey(context, expression, "keyIs")
    case KeyForm.Columns(expressions) =>
      val row =
        GenerateUnsafeProjection.createCode(context, expressions.map(GeneratedClass.canonical))
      s"""${row.code}
         |key_$$eq(${row.value});
         |reaches_$$eq(!${row.value}.anyNull());""".stripMargin
  }

  private def oneKey(context: CodegenContext, expression: Expression, taken: String): String = {
    val value = GeneratedClass.canonical(expression).genCode(context)
    s"""${value.code}
       |if (${value.isNull}) reaches_$$eq(false); else $taken(${value.value});""".stripMargin
  }
}
