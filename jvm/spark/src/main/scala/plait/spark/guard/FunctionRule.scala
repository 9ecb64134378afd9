// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.util.Locale

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.Origin

/** Functions by name, before the analysis looks them up: it evaluates some of them itself.
  *
  * {{{
  * range(10 * reflect('java.lang.System', 'nanoTime'))      evaluated to know how many rows there are
  * }}}
  *
  *   1. A name of one of Spark's own functions means that function, whatever stands before its last part; one
  *      whose class is not listed is refused.
  *   1. Every other function is one that the server's operator or this client (in SQL) has made. The former
  *      is allowed, whatever its language. The latter was looked at when it was made.
  *   1. Columns of files that tell of the server (`_metadata`) are refused where they are read from a table
  *      or a file of the statement itself.
  */
private[guard] object FunctionRule extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case call: UnresolvedFunction => checkName(call.nameParts.last, at)
    case call: UnresolvedTableValuedFunction => checkName(call.name.last, at)
    case call: UnresolvedGenerator => checkName(call.name.funcName, at)
    case column: AttributeReference if FileSourceMetadataAttribute.unapply(column).isDefined =>
      refuseColumn(column.name, at)
    case _ =>
  }

  /** Whether Spark has a function of this name. */
  def isBuiltIn(name: String): Boolean = classOf(name).isDefined

  private def checkName(name: String, at: Origin): Unit =
    if (!classOf(name).forall(isListed)) {
      val why = AllowList.refusedFunctions
        .getOrElse(name.toLowerCase(Locale.ROOT), "it is not among those that a client may use")
      refuse(
        StatementRefused.Function,
        s"The function $name is not allowed: $why. Leave it out of the statement.",
        at
      )
    }

  private def classOf(name: String): Option[String] = {
    val id = FunctionIdentifier(name)
    FunctionRegistry.builtin
      .lookupFunction(id)
      .orElse(TableFunctionRegistry.builtin.lookupFunction(id))
      .map(_.getClassName)
  }

  private[guard] def isListed(className: String): Boolean =
    AllowList.expressions.contains(className) ||
      AllowList.nodes.get(className).contains(Scope.Read)

  private def refuseColumn(name: String, at: Origin): Nothing =
    refuse(
      StatementRefused.Function,
      s"The column $name tells of the server's files. Leave it out of the statement.",
      at
    )
}
