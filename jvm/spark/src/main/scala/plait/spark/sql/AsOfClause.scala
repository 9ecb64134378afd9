// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.antlr.v4.runtime.{CommonTokenStream, ParserRuleContext, Token}
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.{AbstractParser, SqlBaseParser}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.internal.SQLConf

import plait.spark.Spelling
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
final class AsOfClause(tokens: IndexedSeq[Token], val word: Token) {
  import AsOfClause.Nearest
  private var isTaken = false

  /** Has a join taken the clause up? */
  def isUsed: Boolean = isTaken

  private val depths = tokens
    .scanLeft(0)((depth, token) =>
      token.getType match {
        case SqlBaseParser.LEFT_PAREN => depth + 1
        case SqlBaseParser.RIGHT_PAREN => depth - 1
        case _ => depth
      }
    )
    .toIndexedSeq

  def condition(builder: ClauseBuilder): MatchCondition = {
    isTaken = true
    val ties = at("TIES").find(i => tokens.lift(i + 1).exists(_.getType == SqlBaseParser.ORDER))
    val end = ties.getOrElse(tokens.size)
    val tolerance = toleranceBefore(end)
    val (rule, comparison) = compared(expression(builder, 0, tolerance.getOrElse(end)))
    WrittenCasts.mark(comparison)
    MatchCondition(
      rule,
      comparison,
      tolerance.map(i => expression(builder, i + 1, end)),
      ties.fold(Seq.empty[SortOrder])(i => orders(builder, i + 1))
    )
  }

  /** Where TOLERANCE is the word of the clause and no column of that name: there is none if all of it is an
    * expression, else it is where expressions stand to both sides. Of what is wrong either way, the first.
    */
  private def toleranceBefore(end: Int): Option[Int] = {
    val words = at("TOLERANCE").filter(_ < end)
    if (words.isEmpty || isExpression(0, end)) None
    else words.find(i => isExpression(0, i) && isExpression(i + 1, end)).orElse(words.headOption)
  }

  private def compared(written: Expression): (MatchRule, Expression) = written match {
    case _: GreaterThanOrEqual | _: GreaterThan | _: LessThanOrEqual | _: LessThan =>
      MatchRule.Compared -> written
    case UnresolvedFunction(Seq(Nearest()), Seq(a, b), false, None, None, Nil, _) =>
      val compared = CurrentOrigin.withOrigin(written.origin)(LessThanOrEqual(a, b))
      MatchRule.Nearest -> compared
    case nearest @ UnresolvedFunction(Seq(Nearest()), _, _, _, _, _, _) =>
      throw ClauseError(
        "NEAREST takes the two values that it compares, as in NEAREST (l.ts, r.ts), and nothing else",
        if (nearest.origin.startIndex.isDefined) nearest.origin else ClauseError.origin(word)
      )
    case _ =>
      val got = written match {
        case operator: BinaryComparison => operator.symbol
        case other => other.sql
      }
      throw ClauseError.like(
        "ASOF_JOIN_MATCH_CONDITION_INVALID_OPERATOR",
        Map("operator" -> s"$got. NEAREST (left, right) is possible too${within(written)}"),
        if (written.origin.startIndex.isDefined) written.origin else ClauseError.origin(word)
      )
  }

  /** Who writes several comparisons may want the right rows of a window. */
  private def within(written: Expression): String = {
    val isSeveral = written match {
      case UnresolvedFunction(Seq(name), _, _, _, _, _, _) => name.equalsIgnoreCase("BETWEEN")
      case _ => written.isInstanceOf[And] || written.isInstanceOf[Between]
    }
    if (isSeveral)
      ". One comparison stands here: a window is said by TOLERANCE, as in l.ts >= r.ts TOLERANCE INTERVAL 3 SECONDS, " +
        "and all else in ON"
    else ""
  }

  /** Where this word stands behind another, outside of parentheses. */
  private def at(name: String): Seq[Int] = tokens.indices.drop(1).filter { i =>
    depths(i) == 0 && tokens(i).getText.equalsIgnoreCase(name)
  }

  private def isExpression(from: Int, until: Int): Boolean =
    Try(parsed(from, until)(whole(_, _.expression()))).isSuccess

  private def expression(builder: ClauseBuilder, from: Int, until: Int): Expression = {
    if (from >= until)
      throw ClauseError(
        s"MATCH_CONDITION has a part without an expression: it is ${AsOfClause.Usage}",
        if (from == 0) word else tokens(from - 1)
      )
    val context = Try(parsed(from, until)(whole(_, _.expression()))).getOrElse {
      throw unexpected(from, until)
    }
    builder.expressionOf(context)
  }

  /** The first token that does not continue an expression; if none begins one, all that stands there. */
  private def unexpected(from: Int, until: Int) = {
    val ends = (until - 1 until from by -1).find(i => depths(i) == 0 && isExpression(from, i))
    ends.fold(
      ClauseError(
        s"MATCH_CONDITION has a part that is no expression: it is ${AsOfClause.Usage}",
        ClauseError.origin(tokens(from), tokens(until - 1))
      )
    )(i => if (isBareNearest(from, i)) bareNearest(from, until) else noWord(tokens(i)))
  }

  /** NEAREST as a word before its values; as a name, an operator would follow. */
  private def isBareNearest(from: Int, unexpected: Int): Boolean =
    unexpected == from + 1 && tokens(from).getText.equalsIgnoreCase("NEAREST") &&
      tokens(unexpected).getText.headOption.exists(c => c.isLetter || c == '`')

  private def bareNearest(from: Int, until: Int) = {
    val values = from + 1 until until
    val hasBoth = values.exists(tokens(_).getType == SqlBaseParser.COMMA)
    val written = if (hasBoth) new VisibleTokens(tokens).text(values) else "l.ts, r.ts"
    ClauseError(
      s"NEAREST takes its two values in parentheses: NEAREST ($written)",
      tokens(from)
    )
  }

  private def noWord(token: Token) = {
    val written = token.getText.toUpperCase(Locale.ROOT)
    val sentence = written match {
      case "TIES" | "TIE" | "ORDER" => "Ties are decided by TIES ORDER BY, not by another word."
      case "TOLERANCE" => "TOLERANCE stands once, before TIES ORDER BY."
      case AsOfClause.LikeTolerance() =>
        s"How far apart at most is said by TOLERANCE, not $written."
      case AsOfClause.Unit() => s"An amount of time has INTERVAL before it, as INTERVAL 2 $written."
      case _ if !written.exists(_.isLetterOrDigit) =>
        s"MATCH_CONDITION lacks a value behind $written."
      case _ =>
        s"MATCH_CONDITION has no place for $written." + Spelling.asked(written, AsOfClause.Words)
    }
    ClauseError(s"$sentence It is ${AsOfClause.Usage}", token)
  }

  private def orders(builder: ClauseBuilder, from: Int): Seq[SortOrder] = {
    val organized = Try(parsed(from, tokens.size)(whole(_, _.queryOrganization()))).getOrElse {
      throw at("TOLERANCE").lastOption.filter(_ > from).fold(noOrders(from))(i => noWord(tokens(i)))
    }
    val orders = organized.order.asScala.map(builder.visitSortItem).toSeq
    // LIMIT, SORT BY and the like parse behind the orders of a query.
    if (organized.order.isEmpty || organized.order.asScala.last.stop != organized.stop)
      throw noOrders(from)
    orders
  }

  private def noOrders(from: Int) = ClauseError(
    "TIES ORDER BY takes orders, as in TIES ORDER BY r.seq DESC, r.id",
    ClauseError.origin(tokens(from - 1), tokens.last)
  )

  private def whole[C](parser: SqlBaseParser, rule: SqlBaseParser => C): C = {
    val context = rule(parser)
    if (parser.getCurrentToken.getType != Token.EOF) parser.notifyErrorListeners("expected )")
    context
  }

  private def parsed[C <: ParserRuleContext](from: Int, until: Int)(rule: SqlBaseParser => C): C = {
    val stream = new CommonTokenStream(new TokenReplay(tokens.slice(from, until), word))
    val parser = new SqlBaseParser(stream)
    val text = word.getInputStream.toString
    AbstractParser.configureParser(parser, text, stream, SQLConf.get)
    AbstractParser.executeWithTwoStageStrategy(parser, stream, rule)
  }
}

object AsOfClause {
  private val Words = Seq("TOLERANCE", "TIES")
  private val Nearest = "(?i:NEAREST)".r
  private val LikeTolerance = "(?:WITHIN|MAX.*|DISTANCE|RANGE|LIMIT)".r

  private val Unit = "(?:(?:MICRO|MILLI)?SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|YEAR)S?".r

  /** How the clause is written. */
  val Usage: String =
    "MATCH_CONDITION ( { a >= b | a > b | a <= b | a < b | NEAREST (a, b) } [TOLERANCE amount] [TIES ORDER BY order, ...] )"
}
