// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

import plait.constraint.Solver
import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.side.PeakMetric
import plait.spark.translate.{ConditionTranslation, TermTranslation}
import plait.{BySide, Side}

/** What Plait has done in a query, for people and for the Python package: plain text and JSON.
  *
  * Under adaptive execution the plan before a run and after it may differ; both are read off the
  * query as it stands.
  */
object PlaitReport extends AdaptiveSparkPlanHelper {

  /** The version of this jar. */
  def version(): String =
    Option(getClass.getPackage.getImplementationVersion)
      .orElse(sys.props.get("plait.version"))
      .getOrElse("unknown")

  /** A few lines for each of Plait's joins: its condition, and what prunes each side. */
  def pruning(query: QueryExecution): String = joins(query).map(lines).mkString("\n")

  /** The same, each join followed by the graph of its condition as a Mermaid flowchart: its terms, and
    * what is known of each once the condition is TRUE.
    */
  def graphs(query: QueryExecution): String =
    joins(query).map(join => (lines(join) +: graph(join).toSeq).mkString("\n")).mkString("\n")

  private def lines(join: SymmetricHashJoinExec): String = {
    val sides = Side.both.map(side => f"  ${side.name}%-5s ${join.pruning(side)}")
    (title(join) +: sides).mkString("\n")
  }

  private def graph(join: SymmetricHashJoinExec): Option[String] = join.condition.map { condition =>
    val leaves = new TermTranslation(BySide(join.left.outputSet, join.right.outputSet))
    val term = new ConditionTranslation(leaves.leaf).term(condition)
    new Solver(term).traced()._2.mermaid
  }

  /** `[{"join": ..., "metrics": {name: number}, "trace": [[partition, read, left, right]]}]` */
  def counters(query: QueryExecution): String = {
    val all = joins(query).map { join =>
      val trace = join.trace.toSeq.flatMap(_.value.asScala).map { p =>
        Seq(p.partition.toLong, p.rowsRead, p.left, p.right).asJava
      }
      val numbers = join.metrics.map { case (name, metric) => name -> PeakMetric.valueOf(metric) }
      Map("join" -> title(join), "metrics" -> numbers.asJava, "trace" -> trace.asJava).asJava
    }
    new ObjectMapper().writeValueAsString(all.asJava)
  }

  private def joins(query: QueryExecution): Seq[SymmetricHashJoinExec] =
    collectWithSubqueries(query.executedPlan) { case join: SymmetricHashJoinExec => join }

  private def title(join: SymmetricHashJoinExec): String = {
    val keys = join.leftKeys.zip(join.rightKeys).map { case (l, r) => s"$l = $r" }
    s"SymmetricHashJoin ${join.joinType} on ${(keys ++ join.condition.map(_.toString)).mkString(" AND ")}"
  }
}
