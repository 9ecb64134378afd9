// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.spark.sql.catalyst.trees.Origin

/** A statement is not admitted. The sentence says what was wrong with it, what is allowed, and what to do.
  *
  * {{{
  * FUNCTION_NOT_ALLOWED   "The function reflect is not allowed: it runs code. Leave it out of the query."
  * }}}
  *
  * @param origin
  *   where in the statement, as far as Spark's parser has noted it
  */
final class StatementRefused(val code: String, val sentence: String, val origin: Origin)
    extends RuntimeException(s"[$code] $sentence") {

  /** 1-based. */
  def line: Option[Int] = origin.line

  /** 0-based, in its line. */
  def column: Option[Int] = origin.startPosition
}

object StatementRefused {

  /** A kind of statement, or a part of one, that no client may send. */
  val Statement = "STATEMENT_NOT_ALLOWED"

  /** A kind of statement for which the client lacks the scope. */
  val MissingScope = "SCOPE_NOT_GRANTED"
  val Function = "FUNCTION_NOT_ALLOWED"
  val Path = "PATH_NOT_ALLOWED"

  /** A data source other than files of the known formats. */
  val Format = "FORMAT_NOT_ALLOWED"
  val Option = "OPTION_NOT_ALLOWED"
  val Conf = "CONF_NOT_ALLOWED"

  /** A script of SQL statements, or a program that a query would start. */
  val Script = "SCRIPT_NOT_ALLOWED"

  /** More partitions than a client may ask for. */
  val Partitions = "TOO_MANY_PARTITIONS"

  /** A name that is not known before the statement is analysed. */
  val Name = "NAME_NOT_ALLOWED"
}
