// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler._
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}
import org.apache.spark.sql.plait.EndedQuery

import plait.BySide
import plait.spark.side.JoinMetrics

/** A line on the driver's standard output for each join of a query that has ended, where
  * `spark.plait.join.log-probes` was on when the query started:
  *
  * {{{
  * SymmetricHashJoin Inner: 6114 rows; matches found by probing f: 2936, by probing w: 3178
  * CollectedJoin LeftOuter: 6114 rows; all matches found by probing w
  * }}}
  *
  * It is so for each run of it, if the join ran with it: Spark executes the nodes of a DataFrame once, and runs what came of
  * that again, but for what is shuffled or broadcast already.
  *
  * A side has the name that the query gave it; `left` or `right` if it has none, or several. What runs
  * outside of a query of Spark SQL (`df.rdd`) is not told of.
  */
object ProbeLog extends AdaptiveSparkPlanHelper {

  /** Of a join that is told of whenever it has run. */
  private val Watched = new TreeNodeTag[Unit]("plait.probes")
  private val watched = mutable.WeakHashMap.empty[SparkContext, Listener]

  def watch(join: PlaitJoinExec, context: SparkContext): Unit = {
    join.setTagValue(Watched, ())
    Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)).foreach { id =>
      listener(context).add(id.toLong, join)
    }
  }

  private def listener(context: SparkContext): Listener = synchronized {
    watched.getOrElseUpdate(
      context, {
        val made = new Listener
        context.addSparkListener(made)
        made
      }
    )
  }

  final private class Listener extends SparkListener {
    private val running = mutable.Map.empty[Long, Vector[PlaitJoinExec]]
    // Of queries that run: their stages, and what counters had come to when these ended.
    private val queryOf = mutable.Map.empty[Int, Long]
    private val counted = mutable.Map.empty[Long, Map[Long, Long]]

    def add(query: Long, join: PlaitJoinExec): Unit = synchronized {
      val others = running.getOrElse(query, Vector.empty)
      if (!others.exists(_ eq join)) running(query) = others :+ join
    }

    override def onJobStart(start: SparkListenerJobStart): Unit =
      Option(start.properties)
        .flatMap(properties => Option(properties.getProperty(SQLExecution.EXECUTION_ID_KEY)))
        .foreach(id => synchronized(start.stageIds.foreach(stage => queryOf(stage) = id.toLong)))

    override def onStageCompleted(completed: SparkListenerStageCompleted): Unit = synchronized {
      val stage = completed.stageInfo
      queryOf.get(stage.stageId).foreach { query =>
        val values = stage.accumulables.collect { case (id, Counted(value)) => id -> value }
        counted(query) = counted.getOrElse(query, Map.empty) ++ values
      }
    }

    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case end: SparkListenerSQLExecutionEnd =>
        val (first, values) = synchronized(ended(end.executionId))
        val again = EndedQuery.plan(end).toSeq.flatMap(watchedIn).filter { join =>
          !first.exists(_ eq join) && join.metrics.values.exists(m => values.contains(m.id))
        }
        // Not what the counters say by now: the next run may have set them back to zero.
        for (join <- first ++ again)
          System.out.println(line(join, name => values.getOrElse(join.metrics(name).id, 0L)))
      case _ => ()
    }

    private def ended(query: Long) = {
      queryOf.filterInPlace((_, of) => of != query)
      (running.remove(query).getOrElse(Vector.empty), counted.remove(query).getOrElse(Map.empty))
    }

    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit =
      synchronized(running.clear())
  }

  private def watchedIn(plan: SparkPlan): Seq[PlaitJoinExec] = collectWithSubqueries(plan) {
    case join: PlaitJoinExec if join.getTagValue(Watched).isDefined => join
  }

  private object Counted {
    def unapply(info: AccumulableInfo): Option[Long] =
      info.value.collect { case number: Long => number }
  }

  private def line(join: PlaitJoinExec, counted: String => Long): String = {
    val names = namesOf(join)
    s"${join.nodeName} ${join.joinType}: ${counted(JoinMetrics.OutputRows)} rows; " +
      join.found(names, counted)
  }

  private def namesOf(join: PlaitJoinExec): BySide[String] = {
    val expressions = join.leftKeys ++ join.rightKeys ++ join.condition
    BySide.make { side =>
      val output = join.input(side).outputSet
      attributes(expressions)
        .filter(a => output.contains(a))
        .flatMap(_.qualifier.lastOption)
        .distinct match {
        case Seq(name) => name
        case _ => side.name
      }
    }
  }

  private def attributes(expressions: Seq[Expression]): Seq[Attribute] =
    expressions.flatMap(_.references.toSeq)
}
