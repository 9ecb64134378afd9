// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.command.{DescribeQueryCommand, ExplainCommand}
import org.apache.spark.sql.plait.StatementReading

/** What a statement of a remote client may do. Nothing is judged by its text: Spark parses the statement, and
  * everything that the plan holds must be listed; so it is again once Spark has analysed it.
  *
  * {{{
  * val readers = Grant(Set(Scope.Read), Seq("/data/open"), Grant.HarmlessConfKeys)
  *
  * admit(s, "SELECT * FROM t WHERE a = :a", Map("a" -> 1), Nil, readers)     the analysed plan
  * admit(s, "SELECT reflect('java.lang.System', 'exit', 1)", ...)            FUNCTION_NOT_ALLOWED
  * admit(s, "EXPLAIN SELECT * FROM csv.`/etc/passwd`", ...)                  PATH_NOT_ALLOWED
  * admit(s, "DROP TABLE t", ...)                                             SCOPE_NOT_GRANTED
  * }}}
  *
  * There are two passes because the analysis can do harm itself: it lists and reads files of an unknown table,
  * evaluates constants, calls procedures and runs EXECUTE IMMEDIATE.
  *
  *   1. Nothing is executed. Errors of Spark's parser and analysis come out as they are.
  *   1. A view of the catalog, or a global one, is trusted: what its body reads, calls and sets is its maker's
  *      doing, as the place of a table is. A view of the session is looked at where it is made and where
  *      it is used, and so are functions in SQL.
  *   1. Functions that the server has registered (in Scala, Java, Python, Hive or a catalog) are allowed: the
  *      operator has chosen them.
  *   1. Rows that the server has put into a view of the session are allowed; sources there that are neither
  *      files nor of the catalog are not (see [[RelationRule]]).
  *   1. Variables in texts (`${env:HOME}`) are turned off in the session, for good: they show the server's
  *      environment.
  *
  * Not promised: how long a statement runs, how much it reads and what it costs.
  */
object StatementGuard {

  /** The analysed plan of a statement, which `Dataset.ofRows` may run.
    *
    * @param session
    *   the client's own
    * @param named,positional
    *   values for `:name` or for `?`, plain values as `lit` takes them; not both
    */
  def admit(
      session: SparkSession,
      sql: String,
      named: Map[String, Any],
      positional: Seq[Any],
      grant: Grant
  ): LogicalPlan = admit(session, read(session, sql, named, positional), grant)

  /** The same, of a statement that [[read]] has given. */
  def admit(session: SparkSession, parsed: LogicalPlan, grant: Grant): LogicalPlan = {
    check(session, parsed, grant)
    analyse(session, parsed, grant)
  }

  /** The first half of [[admit]]: the parsed plan, looked at. */
  def parse(
      session: SparkSession,
      sql: String,
      named: Map[String, Any],
      positional: Seq[Any],
      grant: Grant
  ): LogicalPlan = {
    val plan = read(session, sql, named, positional)
    check(session, plan, grant)
    plan
  }

  /** The parsed plan, which nobody has looked at yet; names that IDENTIFIER tells are written out. */
  def read(
      session: SparkSession,
      sql: String,
      named: Map[String, Any],
      positional: Seq[Any]
  ): LogicalPlan = {
    session.sessionState.conf.setConfString(SettingRule.Substitution, "false")
    NameRule.written(StatementReading.parsed(session, sql, named, positional))
  }

  /** The second half, of a plan that [[parse]] has given. */
  def analyse(session: SparkSession, parsed: LogicalPlan, grant: Grant): LogicalPlan = {
    val plan = StatementReading.analysed(session, parsed)
    check(session, plan, grant)
    checkHeld(session, plan, grant)
    plan
  }

  /** Refuses a plan that holds what the grant does not allow. */
  def check(session: SparkSession, plan: LogicalPlan, grant: Grant): Unit =
    session.withActive(new Rules(session, grant).checkAll(plan))

  /** Refuses what the grant has not the scope for. */
  def need(scope: Scope, what: String, grant: Grant): Unit =
    NodeRule.need(scope, what, grant, new Origin())

  /** EXPLAIN and DESCRIBE QUERY analyse what they hold only when they run. */
  private def checkHeld(session: SparkSession, plan: LogicalPlan, grant: Grant): Unit = plan match {
    case explain: ExplainCommand =>
      val analysed =
        try Some(StatementReading.analysed(session, explain.logicalPlan))
        catch { case NonFatal(_) => None } // EXPLAIN shows the error
      analysed.foreach(check(session, _, grant))
    case describe: DescribeQueryCommand =>
      check(session, StatementReading.analysed(session, describe.plan), grant)
    case _ =>
  }

  final private class Rules(session: SparkSession, grant: Grant) {
    private val sources = new SourceRule(
      new Folders(grant.folders, session.sessionState.newHadoopConf()),
      grant
    )
    private val relations = new RelationRule(session, sources)
    private val ofKept: Seq[Rule] = Seq(new KeptNameRule(relations), new NameRule(checkKept))
    private val all: Seq[Rule] = Seq(
      new NodeRule(grant),
      FunctionRule,
      OptionRule,
      SchemaRule,
      sources,
      relations,
      new SettingRule(grant),
      PartitionRule,
      new SessionRule(grant, session.sessionState.sqlParser, checkAll, checkKept),
      new KeptRule(checkKept),
      new ClaimRule(session.sessionState.conf, checkAll),
      new NameRule(checkAll)
    )

    def checkAll(root: TreeNode[_]): Unit =
      PlanWalk.foreach(root)((value, at) => all.foreach(_.check(value, at)))

    private def checkKept(root: TreeNode[_]): Unit =
      PlanWalk.foreach(root)((value, at) => ofKept.foreach(_.check(value, at)))
  }
}
