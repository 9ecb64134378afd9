// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.spark.sql.catalyst.analysis.LocalTempView
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.CreateUserDefinedFunction
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.execution.command._
import org.apache.spark.sql.execution.datasources.CreateTempViewUsing
import org.apache.spark.sql.plait.StatementReading

/** Views and functions: those of the client's own session are everyone's, all others need Admin. The body
  * of a function is a text in Spark's plan; it is read and looked at as a statement of its own.
  *
  * {{{
  * CREATE TEMPORARY VIEW v AS SELECT 1                                          Read
  * CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1                                   Admin
  * CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 1                  Read
  * CREATE TEMPORARY FUNCTION f(x INT) RETURNS STRING RETURN reflect(...)        refused
  * }}}
  *
  *   1. A function of a client has no name of one of Spark's own.
  *   1. A function's body is looked at when it is made, and where it is used, whoever has made it; but not where
  *      it is used within a view.
  *
  * @param again
  *   looks at what a body holds
  * @param kept
  *   looks at the names in it, see [[KeptRule]]
  */
final private[guard] class SessionRule(
    grant: Grant,
    parser: => ParserInterface,
    again: TreeNode[_] => Unit,
    kept: TreeNode[_] => Unit
) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case view: CreateViewCommand if view.viewType != LocalTempView =>
      needAdmin("A view that other sessions see", at)
    case view: CreateTempViewUsing if view.global =>
      needAdmin("A view that other sessions see", at)
    case drop: DropTempViewCommand if drop.ident.namespace.nonEmpty =>
      needAdmin("A view that other sessions see", at)
    case drop: DropFunctionCommand if !drop.isTemp =>
      needAdmin("A function of the catalog", at)
    case create: CreateSQLFunctionCommand =>
      if (!create.isTemp) needAdmin("A function of the catalog", at)
      checkFunctionName(create.name.funcName, at)
      checkBody(create.inputParamText, create.exprText, create.queryText)
    case create: CreateUserDefinedFunction =>
      checkBody(create.inputParamText, create.exprText, create.queryText)
    case _ =>
  }

  private def needAdmin(what: String, at: Origin): Unit =
    NodeRule.need(Scope.Admin, what, grant, at)

  private def checkFunctionName(name: String, at: Origin): Unit =
    if (FunctionRule.isBuiltIn(name))
      refuse(
        StatementRefused.Function,
        s"$name is the name of one of Spark's own functions. Choose another.",
        at
      )

  private def checkBody(
      parameters: Option[String],
      expression: Option[String],
      query: Option[String]
  ): Unit = {
    val defaults = parameters.toSeq.flatMap(StatementReading.defaults(parser, _))
    val parts: Seq[TreeNode[_]] =
      (defaults ++ expression).map(parser.parseExpression) ++ query.map(parser.parsePlan)
    parts.foreach { part =>
      again(part)
      kept(part)
    }
  }
}
