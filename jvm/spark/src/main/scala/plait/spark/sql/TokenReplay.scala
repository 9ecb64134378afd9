// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import org.antlr.v4.runtime.{CommonToken, Token}
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/** Gives some tokens of a statement once more, to be parsed apart, as a lexer of that statement: Spark's
  * parser asks its lexer for more than tokens.
  *
  * @param of
  *   any token of the statement
  */
final class TokenReplay(tokens: IndexedSeq[Token], of: Token)
    extends SqlBaseLexer(of.getInputStream) {
  private var next = 0

  override def nextToken(): Token = {
    val token = if (next < tokens.size) tokens(next) else end
    next += 1
    token
  }

  private def end: Token = {
    val last = new CommonToken(tokens.lastOption.getOrElse(of))
    last.setType(Token.EOF)
    last.setText("<EOF>")
    last
  }
}
