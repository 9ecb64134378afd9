// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.LeftAnti
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf

import plait.order.WhyNot
import plait.spark.PlaitConf
import plait.spark.plan.{ClauseError, JoinsOfCheckpoint, PlaitJoinHint}

/** Hides the joins of streams of a query that starts, or is explained, and lets their windows carry a watermark on:
  *
  * {{{
  * joined = df.join(df.alias("r"), ..., "left")    a Join
  * joined.select(...)                              Project(the Join)
  * .writeStream.start()                            WriteToStreamStatement(Project(StreamJoinCarrier(...)))
  * }}}
  *
  *   1. Of what is hidden already it makes nothing new.
  *   1. While Plait is off no hint takes a join, also where it is seen: in a view, or in a DataFrame that was made before.
  *   1. What Spark has no join for and Plait does not take is refused.
  */
object CarryAtStart extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case statement: WriteToStreamStatement =>
      statement.copy(inputQuery = carried(statement.inputQuery))
    case other => other
  }

  def carried(query: LogicalPlan): LogicalPlan =
    if (query.isStreaming) JoinsOfCheckpoint.asChosen(query) {
      val made = CarryWindows(CarryStreamJoins.atStart(withHints(query)))
      made.foreach {
        case join: Join => whyNeither(join, query).foreach(throw _)
        case _ => ()
      }
      made
    }
    else query

  private def withHints(query: LogicalPlan): LogicalPlan =
    if (PlaitConf(SQLConf.get).enabled) query
    else StreamJoins.without(query, PlaitJoinHint.SYMMETRIC_HASH)

  private def whyNeither(join: Join, query: LogicalPlan): Option[Throwable] = {
    // With a hint one asks for Spark's join, and Spark has one for EXISTS and IN.
    val isOfSubquery = StreamSubqueries.isMadeOf(join) &&
      !StreamJoins.isAsked(join, PlaitJoinHint.NO_SYMMETRIC_HASH)
    Option.when(
      StreamJoins.isOfStreams(join) && !StreamJoins.isTaken(join) &&
        (isOfSubquery || join.joinType == LeftAnti)
    ) {
      val whose =
        if (isOfSubquery)
          "Spark runs no subquery over a stream; Plait runs EXISTS and IN as joins of streams"
        else s"Spark runs no ${join.joinType.sql} join of two streams; Plait does"
      ClauseError(s"$whose, but ${whyLeft(join, query)}.", join.origin)
    }
  }

  /** What the checkpoint says of the whole query is not on its joins yet. */
  private def whyLeft(join: Join, query: LogicalPlan): String = query match {
    case JoinsOfCheckpoint(_, PlaitJoinHint.CHECKPOINT_OF_SPARK) =>
      WhyNot.CheckpointOfSpark().sentence
    case _ =>
      // What is not taken has a hint, or Plait is turned off.
      s"${StreamJoins.whyLeft(join).get.sentence}. Take that back where the query starts"
  }
}

/** The same of a query that is explained, and of each micro-batch, where it has been done. */
object CarryUnstarted extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = CarryAtStart.carried(plan)
}
