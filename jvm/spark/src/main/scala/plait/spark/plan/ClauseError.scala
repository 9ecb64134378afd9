// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.antlr.v4.runtime.Token
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}

/** A clause of ours that is not as it must be, at its place in the statement. */
object ClauseError {
  def apply(sentence: String, at: Token): ParseException = ClauseError(sentence, origin(at))

  /** Spark's words around the sentence end in a full stop. */
  def apply(sentence: String, at: Origin): ParseException =
    like("_LEGACY_ERROR_TEMP_0035", Map("message" -> sentence.stripSuffix(".")), at)

  /** What Spark says of the same mistake. */
  def like(condition: String, parameters: Map[String, String], at: Origin): ParseException =
    CurrentOrigin.withOrigin(at)(new ParseException(at.sqlText, at, condition, parameters))

  /** From one token to another, of a statement whose text may not be known yet. */
  def origin(from: Token, until: Token): Origin =
    origin(from).copy(stopIndex = Some(math.max(from.getStopIndex, until.getStopIndex)))

  def origin(from: Token, until: Token, text: String): Origin =
    origin(from, until).copy(sqlText = Some(text))

  def origin(at: Token): Origin = CurrentOrigin.get.copy(
    line = Some(at.getLine),
    startPosition = Some(at.getCharPositionInLine),
    startIndex = Some(at.getStartIndex),
    stopIndex = Some(at.getStopIndex)
  )
}
