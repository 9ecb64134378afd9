// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.util.{Collections, IdentityHashMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, AdaptiveSparkPlanHelper}
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.joins.{BaseJoinExec, SortMergeAsOfJoinExec}
import org.apache.spark.sql.execution.{BinaryExecNode, CommandResultExec, QueryExecution, SparkPlan}

import plait.constraint.Solver
import plait.order.WhyNot
import plait.spark.exec.{OrderedByExec, PlaitJoinExec, SymmetricHashJoinExec}
import plait.spark.planner.{StreamJoins, SymmetricHashJoinStrategy}
import plait.spark.side.PeakMetric
import plait.spark.stream.{StreamSymmetricHashJoinExec, StreamedQuery}
import plait.spark.translate.{ConditionTranslation, TermTranslation}
import plait.{BySide, Side}

/** What Plait has done in a query, for people and for the Python package: plain text and JSON. Of a query over
  * streams that has not started it is what it will do in each micro-batch.
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

  def explain(query: QueryExecution): Explanation =
    new Explanation(allJoins(query).map(explained))

  /** The joins of it that are Spark's, as [[explain]] says of them. */
  def explainLeft(query: QueryExecution): Explanation = new Explanation(
    allJoins(query).map(explained).collect { case left: ExplainedJoin.LeftToSpark => left }
  )

  /** The lines of [[explain]], those of Plait's joins each followed by the graph of its condition as
    * a Mermaid flowchart, in a fenced block: its terms, and what is known of each once it is TRUE.
    */
  def graphs(query: QueryExecution): String = allJoins(query)
    .map(join => (explained(join).toString +: graph(join).toSeq).mkString("\n"))
    .mkString("\n")

  /** Has the query joins, whoever's they are yet, and is it known that it has not run? Adaptive execution knows. */
  def isPending(query: QueryExecution): Boolean = query.executedPlan match {
    case adaptive: AdaptiveSparkPlanExec => !adaptive.isFinalPlan && allJoins(query).nonEmpty
    case _ => false
  }

  private def explained(join: JoinNode): ExplainedJoin = join.node match {
    case ours: PlaitJoinExec =>
      new ExplainedJoin.Planned(join.title, ours.nodeName, ours.pruning)
    case ours: StreamSymmetricHashJoinExec =>
      new ExplainedJoin.Planned(join.title, ours.nodeName, ours.spec.pruning)
    case other => new ExplainedJoin.LeftToSpark(join.title, other.nodeName, whyLeft(other))
  }

  private def whyLeft(join: SparkPlan): WhyNot =
    SymmetricHashJoinStrategy.whyLeft(join).orElse(StreamJoins.whyLeft(join)).getOrElse {
      join match {
        case _: SortMergeAsOfJoinExec => WhyNot.JoinTypeNotSupported("as-of")
        case _ => WhyNot.NotAsked()
      }
    }

  private def graph(join: JoinNode): Option[String] = join.node match {
    case ours: PlaitJoinExec => graph(ours, ours.ofPairs)
    case ours: StreamSymmetricHashJoinExec => graph(ours, ours.condition.full)
    case _ => None
  }

  private def graph(join: BinaryExecNode, ofPairs: Option[Expression]): Option[String] =
    ofPairs.map { condition =>
      val leaves = new TermTranslation(BySide(join.left.outputSet, join.right.outputSet))
      val term = new ConditionTranslation(leaves).term(condition)
      s"```mermaid\n${new Solver(term).trace().mermaid}\n```"
    }

  /** `[{"join": ..., "metrics": {name: number}, "trace": [[partition, read, left, right]]}]` */
  def counters(query: QueryExecution): String = {
    val all = joins(query).map { join =>
      val trace = traceOf(join).toSeq.flatMap(_.value.asScala).map { p =>
        Seq(p.partition.toLong, p.rowsRead, p.left, p.right).asJava
      }
      val counted = join.metrics.map { case (name, metric) => name -> PeakMetric.valueOf(metric) }
      val numbers = counted ++ outOfOrder(join)
      Map(
        "join" -> JoinNode.of(join).title,
        "metrics" -> numbers.asJava,
        "trace" -> trace.asJava
      ).asJava
    }
    new ObjectMapper().writeValueAsString(all.asJava)
  }

  /** Of sides with a declared order: how many of their rows came against it. */
  private def outOfOrder(join: PlaitJoinExec): Map[String, Long] =
    Side.both.flatMap { side =>
      val checks = checksOf(join.input(side)).map(_.metrics(OrderedByExec.OutOfOrder).value)
      if (checks.isEmpty) None else Some(s"${side.name}OutOfOrder" -> checks.sum)
    }.toMap

  /** Those of the join's own inputs, and not of joins below it. */
  private def checksOf(plan: SparkPlan): Seq[OrderedByExec] = plan match {
    case check: OrderedByExec => Seq(check)
    case _: BaseJoinExec => Nil
    case other => allChildren(other).flatMap(checksOf)
  }

  /** Each once, from however many places it is read. */
  private def allJoins(query: QueryExecution): Seq[JoinNode] = {
    val seen = Collections.newSetFromMap(new IdentityHashMap[SparkPlan, java.lang.Boolean])
    allJoins(StreamedQuery.of(query).executedPlan).filter(join => seen.add(join.node))
  }

  /** Also of what fills a cached table that is read, and of a command that has run. */
  private def allJoins(plan: SparkPlan): Seq[JoinNode] =
    collectWithSubqueries(plan)(
      JoinNode.of.andThen(Seq(_)).orElse {
        case cached: InMemoryTableScanExec => allJoins(cached.relation.cachedPlan)
        case done: CommandResultExec => allJoins(done.commandPhysicalPlan)
      }
    ).flatten

  private def joins(query: QueryExecution): Seq[PlaitJoinExec] =
    allJoins(query).map(_.node).collect { case join: PlaitJoinExec => join }

  private def traceOf(join: PlaitJoinExec) = join match {
    case symmetric: SymmetricHashJoinExec => symmetric.trace
    case _ => None
  }
}
