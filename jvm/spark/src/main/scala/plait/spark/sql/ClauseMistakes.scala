// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import java.util.Locale

import org.antlr.v4.runtime.Token
import org.apache.spark.sql.catalyst.parser.{ParseException, SqlBaseParser}

import plait.spark.Spelling
import plait.spark.plan.ClauseError

/** What was meant, where a statement that nobody can read has a clause of ours nearly right:
  *
  * {{{
  * l AS OF JOIN r MATCH_CONDITION (...)            ASOF is one word
  * l JOIN r MATCH_CONDITION (...)                  the join lacks ASOF
  * l LEFT ASOF JOIN r ON ...                       it lacks MATCH_CONDITION
  * l ASOF JOIN r MATCH_CONDITON (...)              it is spelled otherwise
  * l JOIN r AS v FOR SYSTEM_TIME AS OF l.ts        the alias stands behind
  * l JOIN r FOR SYSTEM_TIME l.ts                   it lacks AS OF
  * l JOIN STREAM s FOR SYSTEM_TIME AS OF l.ts      the stream lacks a name
  * MATCH_CONDITION (...) TOLERANCE 5               the amount belongs into the parentheses
  * VERSIONED(r, t, seq DESC)                       of a hint, see HintMistake
  * MERGE INTO l USING r FOR SYSTEM_TIME AS OF l.ts the clause belongs to a join of a query
  * }}}
  *
  * Only a statement that Spark's parser has refused is looked at, and only where it found the mistake or
  * before.
  */
object ClauseMistakes {
  import SqlBaseParser._

  private val Sides = Set(INNER, LEFT, RIGHT, FULL, OUTER, SEMI, ANTI)
  private val Behind = Set(ON, USING, WHERE, GROUP, HAVING, ORDER, JOIN, Token.EOF)

  /** What the SQL standard knows beside AS OF, behind FOR SYSTEM_TIME. */
  private val Periods = Set("BETWEEN", "FROM", "CONTAINED", "ALL")

  /** @param text
    *   the statement in which Spark found the mistake
    */
  def told(text: String, mistake: ParseException): ParseException = {
    val tokens = new VisibleTokens(ClauseParameters.tokensOf(text))
    val found = tokens.all.indices.iterator.flatMap(mistakeAt(tokens, _))
    val last = placeOf(tokens, mistake)
    found.collectFirst {
      case told if told.from <= last && last <= math.max(told.until, told.noticed) + 1 =>
        val place = ClauseError.origin(tokens.all(told.from), tokens.all(told.until), text)
        ClauseError(told.sentence, place)
    } getOrElse mistake
  }

  /** The token at which Spark found the mistake. */
  private def placeOf(tokens: VisibleTokens, mistake: ParseException): Int = {
    val place = for (line <- mistake.line; start <- mistake.startPosition) yield (line, start)
    val at = place.map { case (line, start) =>
      tokens.all.indexWhere(t =>
        t.getLine > line || (t.getLine == line && t.getCharPositionInLine >= start)
      )
    }
    at.filter(_ >= 0).getOrElse(tokens.all.size)
  }

  /** Tokens from one to another, and the last one at which Spark's parser may notice.  */
  final private case class Told(from: Int, until: Int, noticed: Int, sentence: String)

  private def told(from: Int, until: Int, sentence: String) = Told(from, until, until, sentence)

  /** What is to be said of a mistake that begins at this token. */
  private def mistakeAt(tokens: VisibleTokens, i: Int): Option[Told] =
    tokens.typeAt(i) match {
      case AS if isWord(tokens, i + 1, "OF") && isJoin(tokens, i + 2) =>
        // It may be noticed as late as behind the right side of the join.
        val sentence = "AS OF is one word before JOIN: ASOF JOIN"
        Some(Told(i, i + 1, rightSide(tokens, i + 2), sentence))
      case ASOF if isJoin(tokens, i + 1) => unmatched(tokens, i)
      case MATCH_CONDITION => misplaced(tokens, i)
      case FOR if isWord(tokens, i + 1, "SYSTEM_TIME") => ofSystemTime(tokens, i)
      case _ if HintMistake.Names(tokens.textAt(i).toUpperCase(Locale.ROOT)) =>
        new HintMistake(tokens, i).found.map { case (from, until, sentence) =>
          told(from, until, sentence)
        }
      case _ if isTolerance(tokens, i) || isTies(tokens, i) => outside(tokens, i)
      case _ => None
    }

  /** The last token of the right side of the next join. */
  private def rightSide(tokens: VisibleTokens, from: Int): Int = {
    val join = (from until tokens.all.size).find(tokens.typeAt(_) == JOIN).getOrElse(from)
    val ends = Behind + MATCH_CONDITION + RIGHT_PAREN
    val end = tokens.levelFrom(join + 1).find(i => ends(tokens.typeAt(i)))
    end.getOrElse(tokens.all.size) - 1
  }

  /** The word with an amount behind it; a relation may be called so. */
  private def isTolerance(tokens: VisibleTokens, i: Int): Boolean =
    isWord(tokens, i, "TOLERANCE") && (isWord(tokens, i + 1, "INTERVAL") ||
      tokens.textAt(i + 1).headOption.exists(c => c.isDigit || "'\":?".contains(c)))

  private def isTies(tokens: VisibleTokens, i: Int): Boolean =
    isWord(tokens, i, "TIES") && tokens.typeAt(i + 1) == ORDER

  /** A part of the clause behind its parentheses, where its word may be taken for an alias: then Spark notices
    * behind it.
    */
  private def outside(tokens: VisibleTokens, at: Int): Option[Told] = {
    val word = tokens.textAt(at).toUpperCase(Locale.ROOT)
    val (part, example) =
      if (word == "TIES") ("TIES ORDER BY", "TIES ORDER BY r.seq")
      else (word, "TOLERANCE INTERVAL 5 SECONDS")
    val noticed = tokens.levelFrom(at).find(i => i > at && Behind(tokens.typeAt(i)) && i != at + 1)
    val clause = tokens
      .before(at, MATCH_CONDITION)
      .filter(from => !(from until at).exists(tokens.typeAt(_) == JOIN))
    clause.map { _ =>
      val sentence =
        s"$part stands inside the parentheses of MATCH_CONDITION: MATCH_CONDITION (l.ts >= r.ts $example)"
      Told(at, at, noticed.getOrElse(at), sentence)
    }
  }

  private def unmatched(tokens: VisibleTokens, at: Int): Option[Told] = {
    val until = rightSide(tokens, at)
    val isThere = tokens.typeAt(until + 1) == MATCH_CONDITION
    val moved = new MisplacedMatch(tokens, until + 1).moved
    val like =
      (at + 1 to until).find(i => tokens.typeAt(i + 1) == LEFT_PAREN && isLike(tokens.textAt(i)))
    if (isThere) None
    else
      Some(
        like.fold(
          told(
            at,
            until,
            s"ASOF JOIN lacks its MATCH_CONDITION, behind its right side and before ON: ${moved.getOrElse(Example)}"
          )
        )(i => told(i, i, s"${tokens.textAt(i)} is written MATCH_CONDITION: $Example"))
      )
  }

  private def misplaced(tokens: VisibleTokens, at: Int): Option[Told] = {
    val join = tokens.before(at, JOIN)
    val words = join.toSeq.flatMap(tokens.runBefore(_, Sides + ASOF + NATURAL + CROSS))
    if (tokens.typeAt(at + 1) != LEFT_PAREN)
      Some(told(at, at, s"MATCH_CONDITION takes its comparison in parentheses: $Example"))
    else if (!words.exists(tokens.typeAt(_) == ASOF))
      Some(
        told(at, at, s"MATCH_CONDITION belongs to an ASOF JOIN, and stands behind none: $Example")
      )
    else None
  }

  private def ofSystemTime(tokens: VisibleTokens, at: Int): Option[Told] = {
    val isQuery = tokens.typeAt(at - 1) == RIGHT_PAREN
    val isOfMerge =
      tokens.before(at, MERGE).exists(m => tokens.before(at, USING).exists(m < _))
    val sentence =
      if (isOfMerge)
        "AS OF belongs to a join of a query, and MERGE joins otherwise: put such a join into USING (SELECT ...)"
      else if (!isWord(tokens, at + 2, "AS") || !isWord(tokens, at + 3, "OF"))
        withoutAsOf(tokens.textAt(at + 2))
      else if (isOfStream(tokens, at))
        "AS OF stands behind a name, not behind STREAM: give the stream a name by WITH or CREATE TEMP VIEW"
      else if (isQuery)
        "AS OF stands behind the name of a table, a view or a query of WITH: give the query a name by WITH"
      else "AS OF stands directly behind the name of its relation, and the alias behind it"
    val example = "l JOIN r FOR SYSTEM_TIME AS OF l.ts AS alias ON l.k = alias.k"
    Some(told(at, at + 1, s"FOR SYSTEM_TIME $sentence: $example"))
  }

  private def withoutAsOf(word: String): String = {
    val written = word.toUpperCase(Locale.ROOT)
    if (Periods(written)) s"takes only AS OF and one time, not $written"
    else "lacks AS OF before its time"
  }

  /** `JOIN STREAM s FOR ...` or `JOIN STREAM(s) FOR ...`, and not a relation that is called so. */
  private def isOfStream(tokens: VisibleTokens, at: Int): Boolean =
    tokens.before(at, STREAM).exists { word =>
      val isFirst = Set(JOIN, COMMA, FROM)(tokens.typeAt(word - 1))
      isFirst && word + 1 < at && !Set(DOT, AS)(tokens.typeAt(word + 1))
    }

  private def isJoin(tokens: VisibleTokens, from: Int): Boolean = {
    val words = (from until tokens.all.size).iterator.dropWhile(i => Sides(tokens.typeAt(i)))
    words.nextOption().exists(tokens.typeAt(_) == JOIN)
  }

  private def isLike(word: String): Boolean = {
    val upper = word.toUpperCase(Locale.ROOT)
    upper == "MATCH" || upper == "MATCHING" || Spelling
      .nearest(upper, Seq("MATCH_CONDITION"))
      .isDefined
  }

  private def isWord(tokens: VisibleTokens, i: Int, word: String): Boolean =
    tokens.textAt(i).equalsIgnoreCase(word)

  private val Example = "l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k"
}
