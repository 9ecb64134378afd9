// SPDX-License-Identifier: Apache-2.0
// Examples: how the extension gets into a session, alone and beside another.
package plait.spark

import scala.concurrent.duration.Duration

import munit.FunSuite
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{
  ParameterContext,
  ParserInterface,
  SqlStatementSplitResult
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

import plait.spark.exec.SymmetricHashJoinExec

/** Another extension, with a parser that only delegates and a rule that only counts. */
class OtherExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((_, delegate) => new OtherParser(delegate))
    extensions.injectOptimizerRule(_ => OtherRule)
  }
}

object OtherRule extends Rule[LogicalPlan] {
  @volatile var applied = 0
  override def apply(plan: LogicalPlan): LogicalPlan = { applied += 1; plan }
}

object OtherParser {
  @volatile var parsed = 0
}

class OtherParser(delegate: ParserInterface) extends ParserInterface {
  override def parsePlan(sql: String): LogicalPlan = {
    OtherParser.parsed += 1
    delegate.parsePlan(sql)
  }
  override def parsePlanWithParameters(sql: String, context: ParameterContext): LogicalPlan = {
    OtherParser.parsed += 1
    delegate.parsePlanWithParameters(sql, context)
  }
  override def parseQuery(sql: String): LogicalPlan = delegate.parseQuery(sql)
  override def parseExpression(sql: String): Expression = delegate.parseExpression(sql)
  override def parseTableIdentifier(sql: String): TableIdentifier =
    delegate.parseTableIdentifier(sql)
  override def parseFunctionIdentifier(sql: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sql)
  override def parseMultipartIdentifier(sql: String): Seq[String] =
    delegate.parseMultipartIdentifier(sql)
  override def parseRoutineParam(sql: String): StructType = delegate.parseRoutineParam(sql)
  override def splitStatements(sql: String): SqlStatementSplitResult =
    delegate.splitStatements(sql)
  override def parseDataType(sql: String): DataType = delegate.parseDataType(sql)
  override def parseTableSchema(sql: String): StructType = delegate.parseTableSchema(sql)
}

/** Extensions are settled when the context starts, so each case has a context of its own. */
class RegistrationSuite extends FunSuite with AdaptiveSparkPlanHelper {
  // A first Spark session takes its time on a busy machine.
  override val munitTimeout: Duration = Duration(5, "min")

  private val query =
    """SELECT l.s, r.s FROM VALUES (1, 10), (1, 20), (2, 30) AS l(k, s)
      |JOIN VALUES (1, 9), (1, 21), (2, 29) AS r(k, s)
      |ON l.k = r.k AND l.s BETWEEN r.s AND r.s + 5""".stripMargin

  private def inSession[A](settings: (String, String)*)(body: SparkSession => A): A = {
    SparkSession.getDefaultSession.foreach(_.stop())
    val builder = SparkSession
      .builder()
      .master("local[1]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.autoBroadcastJoinThreshold", "-1")
      .config(PlaitConf.PlanningOnError, "fail")
    val session = settings.foldLeft(builder) { case (b, (k, v)) => b.config(k, v) }.getOrCreate()
    try body(session)
    finally session.stop()
  }

  private def runs(session: SparkSession): Unit = {
    val rows = session.sql(query)
    val nodes = collect(rows.queryExecution.executedPlan) { case j: SymmetricHashJoinExec => j }
    assertEquals(nodes.size, 1)
    assertEquals(rows.collect().map(_.toString).toSeq.sorted, Seq("[10,9]", "[30,29]"))
  }

  private val ours = classOf[PlaitExtensions].getName
  private val other = classOf[OtherExtension].getName

  test("the service file alone registers the extension")(inSession()(runs))

  test("spark.sql.extensions registers it too")(inSession("spark.sql.extensions" -> ours)(runs))

  for (order <- Seq(s"$ours,$other", s"$other,$ours"))
    test(s"beside an extension with a parser and a rule: $order") {
      inSession("spark.sql.extensions" -> order) { session =>
        val (parsed, applied) = (OtherParser.parsed, OtherRule.applied)
        runs(session)
        assert(OtherParser.parsed > parsed, "the other parser was not asked")
        assert(OtherRule.applied > applied, "the other rule did not run")
      }
    }
}
