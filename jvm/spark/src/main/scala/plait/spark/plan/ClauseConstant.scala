// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.Expression

/** The value of a constant in a clause, which Spark's optimizer would compute later and elsewhere. */
object ClauseConstant {

  /** @param of
    *   what it is in its clause: `The SIZE of TUMBLE`
    * @throws ParseException
    *   if it is no constant, or cannot be computed: 1 / 0
    */
  def of(of: String, written: Expression): Any = {
    if (!written.foldable)
      throw ClauseError(s"$of must be a constant, but is ${written.sql}", written.origin)
    try written.eval()
    catch {
      case NonFatal(error) =>
        throw ClauseError(s"$of cannot be computed: ${why(error)}", written.origin)
    }
  }

  /** Spark's message shows the place in the statement, too, as ours does. */
  private def why(error: Throwable): String =
    Option(error.getMessage).fold(error.toString)(_.linesIterator.next())
}
