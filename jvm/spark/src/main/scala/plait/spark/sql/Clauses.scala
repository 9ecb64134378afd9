// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import java.util.Locale
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.misc.Interval
import org.antlr.v4.runtime.{CommonToken, CommonTokenStream, ParserRuleContext, Token}
import org.apache.spark.sql.catalyst.parser.SqlBaseParser

import plait.spark.plan.ClauseError

/** The clauses of one statement that Spark's grammar does not have, found by their tokens. They are
  * hidden from the grammar, not cut out: texts and positions stay the user's own.
  *
  * {{{
  * l RIGHT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts TOLERANCE 5) ON l.k = r.k
  *         ^^^^        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^          hidden
  * TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE))
  * ^^^^^^                                                  ^              hidden
  * }}}
  *
  * What is hidden of a join is kept by the place where that join begins, as Spark will say it.
  */
final class Clauses {
  private var asOfJoins: Map[Int, AsOfClause] = _
  private var isAnyFound = false
  private var isKeptAsText = false
  private var tails: Seq[HiddenTail] = Nil

  /** Has the statement a clause of ours, as far as it is read? */
  def areThere: Boolean = isAnyFound

  /** A clause that the grammar has seen: a time, or a call of a window function. */
  def found(): Unit = isAnyFound = true

  /** The as-of clause of the join that begins at this character. */
  def asOf(start: Int): Option[AsOfClause] = asOfJoins.get(start)

  /** Clauses that no join has taken up. */
  def unused: Seq[AsOfClause] =
    Option(asOfJoins).toSeq.flatMap(_.values).filterNot(clause => clause.isUsed || isKeptAsText)

  /** The statement keeps a part of its text, which is read when it is used. */
  def keptAsText(): Unit = isKeptAsText = true

  def setAside(parser: SqlBaseParser): Unit = if (asOfJoins == null) {
    val stream = parser.getTokenStream.asInstanceOf[CommonTokenStream]
    stream.fill()
    val tokens = new VisibleTokens(
      stream.getTokens.asScala.iterator.filter(_.getChannel == Token.DEFAULT_CHANNEL).toIndexedSeq
    )
    val found = tokens.positions(SqlBaseParser.MATCH_CONDITION).flatMap(asOfAt(tokens, _))
    for ((start, clause) <- found; (other, before) <- found if start == other && before != clause)
      throw ClauseError("A join has one MATCH_CONDITION", clause.word)
    asOfJoins = found.toMap
    for (at <- tokens.positions(SqlBaseParser.TABLE)) unwrap(tokens, at)
    stream.seek(0)
  }

  /** What was hidden at the end of a part of the statement belongs to that part: the text of a view is that of
    * its query, from its first token to its last.
    */
  def widen(context: ParserRuleContext): Unit = {
    Option(context.children).foreach(_.asScala.foreach {
      case part: ParserRuleContext => widen(part)
      case _ =>
    })
    for (tail <- tails if context.stop != null && tail.endsIn(context)) context.stop = tail.last
  }

  /** @param at
    *   where MATCH_CONDITION stands
    */
  private def asOfAt(tokens: VisibleTokens, at: Int): Option[(Int, AsOfClause)] =
    for {
      close <- tokens.closing(at + 1)
      join <- tokens.before(at, SqlBaseParser.JOIN)
      words = joinWords(tokens, join)
      asOf <- words.find(tokens.typeAt(_) == SqlBaseParser.ASOF)
    } yield {
      val start = (words.filter(_ != asOf) :+ join).head
      val clause = new AsOfClause(tokens.copied(at + 2, close), tokens.all(at))
      for (i <- misplaced(tokens, join, at)) {
        found()
        throw ClauseError(
          "MATCH_CONDITION stands right behind the right side of its ASOF JOIN, before ON or USING, not behind " +
            tokens.textAt(i).toUpperCase(Locale.ROOT),
          tokens.all(at)
        )
      }
      hide(tokens, asOf +: (at to close))
      tails :+= new HiddenTail(tokens, asOf, at, close)
      tokens.all(start).getStartIndex -> clause
    }

  /** The words that say which join it is, one ASOF at most: a table or an alias may be called as they are.
    * {{{
    * FROM left ASOF JOIN                ASOF
    * FROM l asof LEFT ASOF JOIN         LEFT ASOF
    * }}}
    */
  private def joinWords(tokens: VisibleTokens, join: Int): Seq[Int] = {
    val run = tokens.runBefore(join, Clauses.JoinWords)
    val words = run.dropWhile(i => i == run.head && Clauses.BeforeName(tokens.typeAt(i - 1)))
    val asOfs = words.filter(tokens.typeAt(_) == SqlBaseParser.ASOF)
    asOfs.dropRight(1).lastOption.fold(words)(alias => words.filter(_ > alias))
  }

  /** `TABLE ( f ( ... ) )` of the SQL standard, which Spark writes `f ( ... )`. */
  private def unwrap(tokens: VisibleTokens, at: Int): Unit =
    for {
      close <- tokens.closing(at + 1)
      if WindowFunctions.isName(tokens.textAt(at + 2))
      inner <- tokens.closing(at + 3)
      if inner + 1 == close
    } {
      hide(tokens, Seq(at, at + 1, close))
      tails :+= new HiddenTail(tokens, at, close, close)
    }

  /** A word of another clause between a join and its MATCH_CONDITION. */
  private def misplaced(tokens: VisibleTokens, join: Int, at: Int): Option[Int] =
    (join + 1 until at).find(i => Clauses.Behind(tokens.typeAt(i)) && tokens.isLevel(i, at))

  private def hide(tokens: VisibleTokens, positions: Seq[Int]): Unit = {
    found()
    tokens.hide(positions)
  }
}

object Clauses {
  private val words = Pattern.compile(
    "MATCH_CONDITION|SYSTEM_TIME|" + WindowFunctions.Names.mkString("(", "|", ")\\s*(\\(|/\\*|--)"),
    Pattern.CASE_INSENSITIVE
  )

  /** With what another clause begins. */
  private val Behind = {
    import SqlBaseParser._
    Set(ON, USING, WHERE, GROUP, HAVING, UNION, INTERSECT, EXCEPT, SETMINUS, ORDER, LIMIT, SELECT)
  }

  private val JoinWords = {
    import SqlBaseParser._
    Set(INNER, CROSS, LEFT, RIGHT, FULL, OUTER, SEMI, ANTI, NATURAL, ASOF)
  }

  /** What stands before the name of a table, or before an alias. */
  private val BeforeName = {
    import SqlBaseParser._
    Set(FROM, JOIN, COMMA, AS, DOT, LEFT_PAREN)
  }

  /** May a clause of ours be in the text? Its words may stand in a literal or a name. */
  def mayBeIn(text: String): Boolean = words.matcher(text).find()
}

/** Hidden tokens, from `at` to `until`, behind the part of a statement that begins before `from`. */
final private[sql] class HiddenTail(tokens: VisibleTokens, from: Int, at: Int, until: Int) {
  val last: Token = tokens.all(until)

  /** Does this part of the statement hold the beginning, and end where the tail begins? */
  def endsIn(context: ParserRuleContext): Boolean = {
    val stop = context.stop.getTokenIndex
    context.start.getTokenIndex < tokens.all(from).getTokenIndex &&
    stop < tokens.all(at).getTokenIndex &&
    tokens.all.slice(0, at).filter(_.getTokenIndex > stop).forall(isHidden)
  }

  private def isHidden(token: Token) = token.getChannel == Token.HIDDEN_CHANNEL
}

/** The tokens of a statement that its grammar sees. */
final private[sql] class VisibleTokens(val all: IndexedSeq[Token]) {
  import SqlBaseParser.{LEFT_PAREN, RIGHT_PAREN}

  def typeAt(i: Int): Int = if (all.indices.contains(i)) all(i).getType else Token.INVALID_TYPE
  def textAt(i: Int): String = if (all.indices.contains(i)) all(i).getText else ""

  /** As the user wrote the tokens from the first of the range to the last. */
  def text(range: Range): String =
    if (range.isEmpty) ""
    else {
      val (first, last) = (all(range.head), all(range.last))
      first.getInputStream.getText(Interval.of(first.getStartIndex, last.getStopIndex))
    }

  def positions(tokenType: Int): Seq[Int] = all.indices.filter(typeAt(_) == tokenType)

  /** The parenthesis that closes the one at `open`, if one opens there. */
  def closing(open: Int): Option[Int] =
    if (typeAt(open) != LEFT_PAREN) None
    else {
      var depth = 0
      (open until all.size).find { i =>
        depth += step(i)
        depth == 0
      }
    }

  /** From here on, up to the end of the parentheses around, all that stands in no others. */
  def levelFrom(from: Int): Iterator[Int] = {
    var depth = 0
    (from until all.size).iterator.takeWhile(_ => depth >= 0).filter { i =>
      val isLevel = depth == 0
      depth += step(i)
      isLevel
    }
  }

  /** The last token of this type before `at`, in the same parentheses. */
  def before(at: Int, tokenType: Int): Option[Int] = {
    var depth = 0
    (at - 1 to 0 by -1)
      .takeWhile { i =>
        depth -= step(i)
        depth >= 0
      }
      .reverse
      .findLast(i => typeAt(i) == tokenType && isLevel(i, at))
  }

  def isLevel(from: Int, until: Int): Boolean = (from until until).map(step).sum == 0

  private def step(i: Int): Int = typeAt(i) match {
    case LEFT_PAREN => 1
    case RIGHT_PAREN => -1
    case _ => 0
  }

  /** The tokens of these types that stand directly before `at`. */
  def runBefore(at: Int, types: Set[Int]): Seq[Int] =
    (at - 1 to 0 by -1).takeWhile(i => types.contains(typeAt(i))).reverse

  def copied(from: Int, until: Int): IndexedSeq[Token] =
    all.slice(from, until).map(new CommonToken(_))

  def hide(positions: Seq[Int]): Unit =
    positions.foreach(i => all(i).asInstanceOf[CommonToken].setChannel(Token.HIDDEN_CHANNEL))
}
