// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import org.apache.spark.sql.catalyst.parser.SqlBaseParser

/** The comparison of an as-of join that stands in ON or is the last column of USING, as in other dialects, and where
  * it belongs:
  *
  * {{{
  * l LEFT ASOF JOIN r ON l.k = r.k AND l.ts >= r.ts       MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k
  * l LEFT ASOF JOIN r USING (k, ts)                       MATCH_CONDITION (l.ts >= r.ts) USING (k)
  * }}}
  *
  * @param at
  *   where ON or USING stands, if it does
  */
final private[sql] class MisplacedMatch(tokens: VisibleTokens, at: Int) {
  import SqlBaseParser._

  /** The clauses as they are written, if a comparison is found. */
  def moved: Option[String] = tokens.typeAt(at) match {
    case ON => ofOn
    case USING => ofUsing
    case _ => None
  }

  private def ofOn: Option[String] = {
    val level = tokens.levelFrom(at + 1).takeWhile(i => !MisplacedMatch.Ends(tokens.typeAt(i)))
    val positions = level.toIndexedSeq
    for {
      last <- positions.lastOption
      // A BETWEEN has an AND of its own.
      if !positions.exists(tokens.typeAt(_) == BETWEEN)
      ands = positions.filter(tokens.typeAt(_) == AND)
      parts = (at +: ands).zip(ands :+ (last + 1)).map { case (from, to) => from + 1 until to }
      comparison <- parts.find(part => part.exists(i => positions.contains(i) && isOrder(i)))
    } yield {
      val others = parts.filterNot(_ == comparison).filter(_.nonEmpty).map(tokens.text)
      MisplacedMatch.written(tokens.text(comparison), "ON", others.mkString(" AND "))
    }
  }

  private def ofUsing: Option[String] = {
    val names = tokens.closing(at + 1).toSeq.flatMap { close =>
      (at + 2 until close).filter(tokens.typeAt(_) != COMMA).map(tokens.textAt)
    }
    names.lastOption.map { last =>
      val keys = names.init
      val rest = if (keys.isEmpty) "" else keys.mkString("(", ", ", ")")
      MisplacedMatch.written(s"l.$last >= r.$last", "USING", rest)
    }
  }

  private def isOrder(i: Int): Boolean = Set(LT, LTE, GT, GTE)(tokens.typeAt(i))
}

private[sql] object MisplacedMatch {
  import SqlBaseParser._

  /** What may follow ON. */
  private val Ends = Set(
    RIGHT_PAREN,
    WHERE,
    GROUP,
    HAVING,
    ORDER,
    LIMIT,
    UNION,
    JOIN,
    LEFT,
    RIGHT,
    FULL,
    INNER,
    CROSS,
    SEMI,
    ANTI,
    NATURAL,
    ASOF,
    COMMA,
    SEMICOLON,
    -1
  )

  def written(comparison: String, word: String, rest: String): String =
    s"MATCH_CONDITION ($comparison)" + (if (rest.isEmpty) "" else s" $word $rest")
}
