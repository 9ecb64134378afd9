// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.{
  ExecutedCommandExec,
  ExplainCommand,
  LeafRunnableCommand
}
import org.apache.spark.sql.execution.{CodegenMode, CommandExecutionMode, SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{Row, SparkSession, classic}

import plait.spark.stream.StreamedQuery
import plait.spark.{PlaitConf, PlaitReport}

/** EXPLAIN also says of the joins that are Spark's why they are: its nodes have no place for it.
  *
  * {{{
  * == Physical Plan ==
  * BroadcastHashJoin [k#1], [k#5], Inner, BuildRight, false
  * ...
  *
  * == Left to Spark ==
  * BroadcastHashJoin Inner on k#1 = k#5
  *   left to Spark: the condition has no comparison ... [NO_COMPARISON]
  * }}}
  */
object ExplainStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case explain: ExplainCommand if explain.mode != CodegenMode && PlaitConf(SQLConf.get).enabled =>
      Seq(ExecutedCommandExec(ExplainedCommand(explain)))
    case _ => Nil
  }
}

/** What EXPLAIN says of a query; where that fails, Spark's own command says what is wrong.
  *
  * @param explain
  *   as Spark has it
  */
final case class ExplainedCommand(explain: ExplainCommand) extends LeafRunnableCommand {
  override val output: Seq[Attribute] = explain.output

  override def run(session: SparkSession): Seq[Row] = {
    val own = session.asInstanceOf[classic.SparkSession]
    try Seq(Row(text(own)))
    catch { case NonFatal(_) => explain.run(own) }
  }

  private def text(session: classic.SparkSession): String = {
    val plan = session.sessionState.executePlan(explain.logicalPlan, CommandExecutionMode.SKIP)
    val query = StreamedQuery.of(plan)
    val spark = query.explainString(explain.mode)
    val left = PlaitReport.explainLeft(query).toString
    if (left.isEmpty) spark else s"$spark\n== Left to Spark ==\n$left\n"
  }
}
