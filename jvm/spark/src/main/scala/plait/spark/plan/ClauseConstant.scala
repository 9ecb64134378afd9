// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{Expression, VariableReference}

/** The value of a constant in a clause, which Spark's optimizer would compute later and elsewhere. */
object ClauseConstant {

  /** @param of
    *   what it is in its clause: `The SIZE of TUMBLE`
    * @throws ParseException
    *   if it is no constant, or cannot be computed: 1 / 0
    */
  def of(of: String, written: Expression): Any = {
    if (!written.foldable)
      throw ClauseError(s"$of must be a constant, but ${named(written)}", written.origin)
    try written.eval()
    catch {
      case NonFatal(error) =>
        throw ClauseError(s"$of cannot be computed: ${why(error)}", written.origin)
    }
  }

  /** Spark takes a variable for a column of the call, and no constant. */
  private def named(written: Expression): String =
    written.collectFirst { case v: VariableReference => v.originalNameParts.mkString(".") } match {
      case Some(name) => s"$name is a variable of the session: give it as a parameter, :$name"
      case None => s"is ${written.sql}"
    }

  /** Spark's message shows the place in the statement, too, as ours does. */
  private def why(error: Throwable): String =
    Option(error.getMessage).fold(error.toString)(_.linesIterator.next())
}
