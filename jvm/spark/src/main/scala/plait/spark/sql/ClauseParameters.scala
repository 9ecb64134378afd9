// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.misc.Interval
import org.antlr.v4.runtime.{CharStream, CharStreams, CodePointCharStream, CommonTokenStream, Token}
import org.apache.spark.sql.catalyst.parser.SqlBaseParser.{COLON, QUESTION}
import org.apache.spark.sql.catalyst.parser._

/** Puts the values of parameters into a statement with a clause of ours. Spark finds the markers by its
  * grammar, which such a statement does not fit; here they are found by tokens.
  *
  * {{{
  * ... (l.ts >= r.ts TOLERANCE :t) ... WHERE k = :k        t 5, k 'a'
  * ... (l.ts >= r.ts TOLERANCE 5) ... WHERE k = 'a'
  * }}}
  *
  * Not every colon is of a marker: `v:field`, `STRUCT<a : INT>` and `label : BEGIN` have others.
  *
  *   1. A colon directly behind a name or a parenthesis is none, unless the name is a word of SQL behind which an
  *      expression stands: `LIMIT:n`.
  *   2. A name that no value is given for is left as it is: Spark finds by its grammar what it stands for, and says
  *      that a marker has no value.
  *
  * What a value looks like in SQL is Spark's.
  */
object ClauseParameters {

  /** `:name` or `?`, at its place in the text; `end` is behind its last character. */
  final case class Marker(start: Int, end: Int, text: String, isNamed: Boolean) {
    def name: String = text.stripPrefix(":").stripPrefix("`").stripSuffix("`")
  }

  def substituted(text: String, values: ParameterContext): (String, PositionMapper) = {
    val markers = markersIn(text).filter(isGiven(_, values))
    // Spark says that named and positional ones do not go together.
    if (markers.map(_.isNamed).distinct.size > 1)
      ParameterHandler
        .substituteParameters(markers.map(_.text).mkString("SELECT ", ", ", ""), values)
    val put = markers.zipWithIndex.map { case (marker, i) =>
      val value = if (marker.isNamed) values else only(values, i)
      val select = s"SELECT ${marker.text}"
      val found = ParameterHandler.substituteParameters(select, value)._1.stripPrefix("SELECT ")
      (marker, found.trim)
    }
    val result = put.foldRight(text) { case ((marker, value), sofar) =>
      val from = sofar.offsetByCodePoints(0, marker.start)
      val until = sofar.offsetByCodePoints(0, marker.end)
      s"${sofar.substring(0, from)} $value${sofar.substring(until)}"
    }
    val moved = put.map { case (marker, value) =>
      Substitution(ParameterLocation(marker.start, marker.end), s" $value")
    }
    (result, PositionMapper(text, result, moved.toList))
  }

  /** Too few values of `?` are told by Spark. */
  private def isGiven(marker: Marker, values: ParameterContext): Boolean =
    !marker.isNamed || (values match {
      case NamedParameterContext(all) => all.contains(marker.name)
      case HybridParameterContext(_, names) => names.contains(marker.name)
      case _: PositionalParameterContext => false
    })

  /** The values for the one marker that stands at this place among all. */
  private def only(values: ParameterContext, i: Int): ParameterContext = values match {
    case PositionalParameterContext(all) => PositionalParameterContext(all.slice(i, i + 1))
    case HybridParameterContext(all, names) =>
      HybridParameterContext(all.slice(i, i + 1), names.slice(i, i + 1))
    case named => named
  }

  /** What the grammar sees of a text. */
  private[sql] def tokensOf(text: String): IndexedSeq[Token] = {
    val lexer = new SqlBaseLexer(new UpperCase(CharStreams.fromString(text)))
    lexer.removeErrorListeners()
    lexer.addErrorListener(ParseErrorListener)
    val stream = new CommonTokenStream(lexer)
    stream.fill()
    stream.getTokens.asScala.filter(_.getChannel == Token.DEFAULT_CHANNEL).toIndexedSeq
  }

  /** In the order of the text. */
  def markersIn(text: String): Seq[Marker] = {
    val tokens = tokensOf(text)
    tokens.indices.flatMap { i =>
      val token = tokens(i)
      token.getType match {
        case QUESTION =>
          Some(Marker(token.getStartIndex, token.getStopIndex + 1, "?", isNamed = false))
        case COLON if !isField(tokens, i) =>
          val name = tokens(i + 1)
          val end = name.getStopIndex + 1
          Some(Marker(token.getStartIndex, end, s":${name.getText}", isNamed = true))
        case _ => None
      }
    }
  }

  /** Words that stand before expressions and are hardly names; as `data` and `value`, others are. */
  private val BeforeExpression =
    ("TOLERANCE LIMIT OFFSET SELECT DISTINCT WHERE HAVING ON BY AND OR NOT IN BETWEEN LIKE ILIKE RLIKE REGEXP " +
      "ESCAPE CASE WHEN THEN ELSE FROM INTERVAL RETURN OF VALUES SET").split(" ").toSet

  private def isField(tokens: IndexedSeq[Token], i: Int): Boolean = i > 0 && {
    val before = tokens(i - 1)
    def isName = before.getText.lastOption.exists { c =>
      Character.isLetterOrDigit(c) || c == '_' || c == '`' || c == ']'
    }
    before.getStopIndex + 1 == tokens(i).getStartIndex &&
    !BeforeExpression(before.getText.toUpperCase(Locale.ROOT)) &&
    (before.getType == SqlBaseParser.RIGHT_PAREN || isName)
  }

  /** Spark's keywords are in capitals; texts of tokens stay as they are. */
  final private class UpperCase(text: CodePointCharStream) extends CharStream {
    override def LA(i: Int): Int = {
      val c = text.LA(i)
      if (c > 0) Character.toUpperCase(c) else c
    }
    override def consume(): Unit = text.consume()
    override def mark(): Int = text.mark()
    override def release(marker: Int): Unit = text.release(marker)
    override def index(): Int = text.index()
    override def seek(index: Int): Unit = text.seek(index)
    override def size(): Int = text.size()
    override def getSourceName: String = text.getSourceName
    override def getText(interval: Interval): String = text.getText(interval)
    override def toString: String = text.toString
  }
}
