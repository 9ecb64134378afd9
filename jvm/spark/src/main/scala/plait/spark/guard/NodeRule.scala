// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.ParameterizedQuery
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, ParsedStatement}
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.connector.catalog.functions.BoundFunction
import org.apache.spark.sql.execution.command.DropTableCommand
import org.apache.spark.sql.types.ObjectType

/** Only listed classes: of plans, each for a scope, and of expressions.
  *
  * {{{
  * Project, Join, ShowTables      for every scope
  * InsertIntoStatement            for Admin
  * AddJarsCommand                 not listed
  * }}}
  *
  *   1. A class counts by its whole name; its subclasses are other classes.
  *   1. `Invoke` and `StaticInvoke`, by which many of Spark's functions call the code behind them, may call
  *      code of Spark and functions of a catalog.
  */
final private[guard] class NodeRule(grant: Grant) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case plan: LogicalPlan => checkPlan(plan, at)
    case call: StaticInvoke => checkCall(call.staticObject, call, at)
    case call: Invoke => checkTarget(call, at)
    case expression: Expression => checkExpression(expression, at)
    case node: TreeNode[_] => refuseNode(node, at)
    case _ =>
  }

  private def checkPlan(plan: LogicalPlan, at: Origin): Unit =
    AllowList.nodes.get(plan.getClass.getName) match {
      case None => refuseNode(plan, at)
      case Some(scope) => NodeRule.need(scope, NodeRule.statement(plan, scope), grant, at)
    }

  private def checkExpression(expression: Expression, at: Origin): Unit =
    if (!AllowList.expressions.contains(expression.getClass.getName))
      refuse(
        StatementRefused.Function,
        s"${expression.prettyName} is not among the functions and expressions that a client may use.",
        at
      )

  private def checkTarget(call: Invoke, at: Origin): Unit = call.targetObject.dataType match {
    case ObjectType(target) => checkCall(target, call, at)
    case _ => // a value of SQL
  }

  private def checkCall(target: Class[_], call: Expression, at: Origin): Unit =
    if (
      !target.getName.startsWith("org.apache.spark.") && !classOf[BoundFunction]
        .isAssignableFrom(target)
    )
      refuse(
        StatementRefused.Function,
        s"${call.prettyName} calls ${target.getName}; a client's query may call code of Spark alone.",
        at
      )

  private def refuseNode(node: TreeNode[_], at: Origin): Nothing = {
    val (code, sentence) = NodeRule.Refused.getOrElse(
      node.getClass.getSimpleName,
      StatementRefused.Statement -> (s"${NodeRule.words(node)} is not among the statements that a client may send: " +
        "queries, EXPLAIN, SHOW, DESCRIBE, USE, SET, session variables and temporary views, and with the scope " +
        "admin what changes the catalog.")
    )
    refuse(code, sentence, at)
  }
}

private[guard] object NodeRule {

  def need(scope: Scope, what: String, grant: Grant, at: Origin): Unit =
    if (!grant.opens(scope)) {
      val has =
        if (grant.scopes.isEmpty) "no scope"
        else grant.scopes.map(_.name).toSeq.sorted.mkString("the scope ", ", ", "")
      throw new StatementRefused(
        StatementRefused.MissingScope,
        s"$what needs the scope ${scope.name}, and this client has $has. Use a token that has ${scope.name}.",
        at
      )
    }

  /** What needs the scope: the statement that a plan is, or the query that it is a part of. */
  private def statement(plan: LogicalPlan, scope: Scope): String = plan match {
    case drop: DropTableCommand if drop.isView => "DROP VIEW"
    case bound: ParameterizedQuery => statement(bound.child, scope)
    case _: Command | _: ParsedStatement => words(plan)
    case _ if scope == Scope.Read => "A query"
    case _ if scope == Scope.Stream => "A query over a stream"
    case _ => words(plan)
  }

  /** `AddJarsCommand` as `ADD JARS`. */
  def words(node: TreeNode[_]): String = {
    val name = node.getClass.getSimpleName
    Otherwise.getOrElse(
      name,
      name
        .stripSuffix("$")
        .stripPrefix("Unresolved")
        .stripSuffix("Command")
        .stripSuffix("Statement")
        .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
        .toUpperCase(Locale.ROOT)
    )
  }

  /** Statements whose classes Spark calls otherwise. */
  private val Otherwise = Map(
    "CreateSQLFunctionCommand" -> "CREATE FUNCTION",
    "CreateUserDefinedFunction" -> "CREATE FUNCTION",
    "DescribeRelation" -> "DESCRIBE TABLE",
    "DescribeRelationJsonCommand" -> "DESCRIBE TABLE",
    "SetCatalogAndNamespace" -> "USE",
    "ShowTablesExtended" -> "SHOW TABLE EXTENDED"
  )

  private def serverFiles(what: String) = StatementRefused.Statement ->
    s"$what reaches for files and code of the server. The server's operator adds them when it is started."

  private def code(what: String, instead: String) =
    StatementRefused.Statement -> s"$what runs code that nobody has looked at. $instead"

  /** Those that somebody is likely to try, by the names of their classes. */
  private val Refused: Map[String, (String, String)] = Map(
    "AddJarsCommand" -> serverFiles("ADD JAR"),
    "AddFilesCommand" -> serverFiles("ADD FILE"),
    "AddArchivesCommand" -> serverFiles("ADD ARCHIVE"),
    "ListJarsCommand" -> serverFiles("LIST JARS"),
    "ListFilesCommand" -> serverFiles("LIST FILES"),
    "ListArchivesCommand" -> serverFiles("LIST ARCHIVES"),
    "RefreshResource" -> serverFiles("REFRESH of a path"),
    "CreateFunction" -> code(
      "CREATE FUNCTION of a class",
      "Write the function in SQL: CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 1."
    ),
    "CreateFunctionCommand" -> code(
      "CREATE FUNCTION of a class",
      "Write the function in SQL: CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 1."
    ),
    "Call" -> code("CALL", "The server's operator may call the procedure."),
    "UnresolvedExecuteImmediate" -> code(
      "EXECUTE IMMEDIATE",
      "Send its text as a statement, with parameters."
    ),
    "ScriptTransformation" -> (StatementRefused.Script ->
      "TRANSFORM starts a program on the server. Write it with SQL's functions, or as a function that the server has."),
    "CompoundBody" -> (StatementRefused.Script ->
      "A script of BEGIN and END is not allowed. Send its statements one by one.")
  )
}
