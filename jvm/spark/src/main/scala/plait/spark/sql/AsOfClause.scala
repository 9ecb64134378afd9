// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CommonTokenStream, ParserRuleContext, Token}
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.{AbstractParser, SqlBaseParser}
import org.apache.spark.sql.execution.SparkSqlAstBuilder
import org.apache.spark.sql.internal.SQLConf

import plait.spark.plan.{ClauseError, MatchCondition, MatchRule}

/** What stands in the parentheses of MATCH_CONDITION:
  *
  * {{{
  * l.ts >= r.ts                                            one of >= > <= <, sides in either order
  * NEAREST (l.ts, r.ts)
  * ... TOLERANCE INTERVAL 5 SECONDS                        then, if wanted, how far apart at most
  * ... TIES ORDER BY r.seq DESC, r.id                      then what decides among equal match values
  * }}}
  *
  * @param word
  *   MATCH_CONDITION itself, to point at
  */
final class AsOfClause(tokens: IndexedSeq[Token], word: Token) {
  private val depths = tokens
    .scanLeft(0)((depth, token) =>
      token.getType match {
        case SqlBaseParser.LEFT_PAREN => depth + 1
        case SqlBaseParser.RIGHT_PAREN => depth - 1
        case _ => depth
      }
    )
    .toIndexedSeq

  def condition(builder: SparkSqlAstBuilder): MatchCondition = {
    val ties = at("TIES").filter(i => tokens.lift(i + 1).exists(_.getType == SqlBaseParser.ORDER))
    val tolerance = at("TOLERANCE").filter(i => ties.forall(i < _))
    val comparisonEnd = tolerance.orElse(ties).getOrElse(tokens.size)
    val (rule, comparison) = compared(expression(builder, 0, comparisonEnd))
    MatchCondition(
      rule,
      comparison,
      tolerance.map(i => expression(builder, i + 1, ties.getOrElse(tokens.size))),
      ties.fold(Seq.empty[SortOrder])(i => orders(builder, i + 1))
    )
  }

  private def compared(written: Expression): (MatchRule, Expression) = written match {
    case _: GreaterThanOrEqual | _: GreaterThan | _: LessThanOrEqual | _: LessThan =>
      MatchRule.Compared -> written
    case UnresolvedFunction(Seq(name), Seq(a, b), _, _, _, _, _)
        if name.equalsIgnoreCase("NEAREST") =>
      MatchRule.Nearest -> LessThanOrEqual(a, b)
    case _ =>
      val got = written match {
        case operator: BinaryComparison => operator.symbol
        case other => other.sql
      }
      throw ClauseError.like(
        "ASOF_JOIN_MATCH_CONDITION_INVALID_OPERATOR",
        Map("operator" -> s"$got. NEAREST (left, right) is possible too"),
        ClauseError.origin(word)
      )
  }

  /** Where this word stands behind an expression, outside of parentheses. */
  private def at(name: String): Option[Int] = tokens.indices.drop(1).find { i =>
    depths(i) == 0 && tokens(i).getText.equalsIgnoreCase(name) &&
    !AsOfClause.NoEnd.contains(tokens(i - 1).getType)
  }

  private def expression(builder: SparkSqlAstBuilder, from: Int, until: Int): Expression = {
    if (from >= until)
      throw ClauseError("MATCH_CONDITION has a part without an expression", word)
    builder.visitSingleExpression(parsed(from, until)(_.singleExpression()))
  }

  private def orders(builder: SparkSqlAstBuilder, from: Int): Seq[SortOrder] =
    parsed(from, tokens.size) { parser =>
      val context = parser.queryOrganization()
      if (parser.getCurrentToken.getType != Token.EOF) parser.notifyErrorListeners("expected )")
      context
    }.order.asScala.map(builder.visitSortItem).toSeq

  private def parsed[C <: ParserRuleContext](from: Int, until: Int)(rule: SqlBaseParser => C): C = {
    val stream = new CommonTokenStream(new TokenReplay(tokens.slice(from, until), word))
    val parser = new SqlBaseParser(stream)
    val text = word.getInputStream.toString
    AbstractParser.configureParser(parser, text, stream, SQLConf.get)
    AbstractParser.executeWithTwoStageStrategy(parser, stream, rule)
  }
}

object AsOfClause {

  /** After these an expression goes on. */
  private val NoEnd = {
    import SqlBaseParser._
    Set(
      DOT,
      LEFT_PAREN,
      COMMA,
      EQ,
      NSEQ,
      NEQ,
      NEQJ,
      LT,
      LTE,
      GT,
      GTE,
      PLUS,
      MINUS,
      ASTERISK,
      SLASH,
      PERCENT,
      AND,
      OR,
      NOT
    )
  }
}
