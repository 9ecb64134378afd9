// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  BaseStreamingDeduplicateExec,
  EventTimeWatermarkExec,
  StatefulOperator
}

import plait.spark.EventTimeFrontier

/** What the rows of a side promise that came with a batch, once it has run:
  *
  * {{{
  * EventTimeWatermark(ts, 10 minutes)   latest ts 12:00        later rows are after 11:50
  *                                      NULL, or years ago     nothing: up to 1970, as in Spark
  * OrderedBy(seq, slack 100)            greatest seq 500       later rows have a seq of at least 400
  * }}}
  *
  * Only what is said of rows that come to the join with no state between: what a join or an aggregation gives out may be
  * older than what it has taken in, so what is said below it says nothing of its rows. What is said above it is of the rows
  * that it gives out.
  *
  * {{{
  * StreamJoin <-- OrderedBy(seq) <-- StreamJoin <-- OrderedBy(id)      of seq is known how far it has come, of id not
  * }}}
  *
  * And, of event times, only by the watermark of the column that the side's order is made of, and not below a UNION: it says
  * nothing of the other branch's rows. Spark's own watermark serves there.
  */
object SeenFrontier {
  def of(side: SparkPlan, rule: FrontierRule, eventTime: EventTimeFrontier): Long = {
    val own = eventTime match {
      case EventTimeFrontier.OfSide => ofEventTime(side, rule)
      case EventTimeFrontier.OfQuery => Long.MinValue
    }
    math.max(own, declared(side, rule))
  }

  /** What drops duplicates gives out the others in the batch in which they come. */
  private def keepsRows(node: SparkPlan): Boolean = node match {
    case _: BaseStreamingDeduplicateExec => false
    case other => other.isInstanceOf[StatefulOperator]
  }

  private def ofEventTime(side: SparkPlan, rule: FrontierRule): Long = {
    val nodes = for {
      column <- rule.ofEventTime.flatMap(_.from).toSeq
      node <- passing(side).collect { case node: EventTimeWatermarkExec => node }
      if node.eventTime.exprId == column
    } yield node
    nodes match {
      // A time that is NULL counts there as one of 1970, which says nothing of rows of years before.
      case Seq(node) if node.eventTimeStats.value.max > 0 =>
        // As Spark counts: in milliseconds, and later rows are after it.
        val watermark = node.eventTimeStats.value.max - node.delayMs
        rule.atEventTime(watermark * 1000 + 1)
      case _ => Long.MinValue
    }
  }

  private def declared(side: SparkPlan, rule: FrontierRule): Long =
    rule.declared
      .flatMap { frontier =>
        passing(side)
          .collect {
            case node: DeclaresFrontier if node.claim.isSameAs(frontier.claim) => node.seen
          }
          .minOption
          .filter(_ != Long.MinValue)
          .map(frontier.rank.rankFrom)
      }
      .getOrElse(Long.MinValue)

  /** The nodes whose rows come to the join in the batch in which they come to them. */
  private def passing(plan: SparkPlan): Seq[SparkPlan] = plan match {
    case reused: ReusedExchangeExec => passing(reused.child)
    case keeping if keepsRows(keeping) => Nil
    case other => other +: other.children.flatMap(passing)
  }
}
