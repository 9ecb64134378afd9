// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.parser.SqlBaseParser

import plait.spark.plan.HintNames

/** What Spark's grammar does not take as a parameter of a hint, and how it is written there:
  *
  * {{{
  * VERSION_DELETED(r, op = 'D')             VERSION_DELETED(r, (op = 'D'))
  * VERSIONED(r, valid_from, seq DESC)       VERSIONED(r, valid_from, 'seq DESC')
  * }}}
  *
  * @param at
  *   where the name of one of Plait's hints stands
  */
final private[sql] class HintMistake(tokens: VisibleTokens, at: Int) {
  import HintMistake._
  import SqlBaseParser._

  /** The first such parameter, from one token to another, and the sentence. */
  def found: Option[(Int, Int, String)] =
    for {
      close <- tokens.closing(at + 1)
      if isInHint
      commas = tokens
        .levelFrom(at + 2)
        .takeWhile(_ < close)
        .filter(tokens.typeAt(_) == COMMA)
        .toIndexedSeq
      parameters = ((at + 1) +: commas).zip(commas :+ close).map { case (from, to) =>
        from + 1 until to
      }
      wrong <- parameters.find(has(_, Directions ++ Operators))
    } yield {
      val name = tokens.textAt(at).toUpperCase(Locale.ROOT)
      val all = parameters.map(p => if (p == wrong) mended(p) else tokens.text(p))
      (wrong.head, wrong.last, s"${said(wrong)} in a hint: $name(${all.mkString(", ")})")
    }

  private def isInHint: Boolean =
    (at - 1 to 0 by -1).map(tokens.typeAt).find(t => t == HENT_START || t == HENT_END) match {
      case Some(last) => last == HENT_START
      case None => false
    }

  private def said(parameter: Range): String =
    if (has(parameter, Directions)) "An order with a direction is a text"
    else "A condition stands in parentheses of its own"

  private def mended(parameter: Range): String =
    if (has(parameter, Directions)) s"'${tokens.text(parameter)}'"
    else s"(${tokens.text(parameter)})"

  private def has(parameter: Range, types: Set[Int]): Boolean =
    parameter.nonEmpty && tokens
      .levelFrom(parameter.head)
      .takeWhile(_ <= parameter.last)
      .exists(i => i > parameter.head && types(tokens.typeAt(i)))
}

private[sql] object HintMistake {
  import SqlBaseParser._

  val Names: Set[String] = HintNames.Versions + HintNames.Ordered

  private val Directions = Set(ASC, DESC)
  private val Operators = Set(
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
    CONCAT_PIPE,
    IN,
    IS,
    LIKE,
    BETWEEN,
    NOT,
    AND,
    OR
  )
}
