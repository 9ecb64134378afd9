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
  * OrderedBy(seq, slack 100)            greatest seq 500       later rows have a seq of at least 400
  * }}}
  *
  * Only of a side whose rows come from its source with no state between: what a join or an aggregation
  * gives out may be older than what it has taken in. And, of event times, only by the watermark of the column that the
  * side's order is made of, and not below a UNION: it says nothing of the other branch's rows. Spark's own watermark
  * serves there.
  */
object SeenFrontier {
  def of(side: SparkPlan, rule: FrontierRule, eventTime: EventTimeFrontier): Long =
    if (all(side).exists(keepsRows)) Long.MinValue
    else {
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
      node <- all(side).collect { case node: EventTimeWatermarkExec => node }
      if node.eventTime.exprId == column
    } yield node
    nodes match {
      case Seq(node) if node.eventTimeStats.value.count > 0 =>
        // As Spark counts: in milliseconds, and later rows are after it.
        val watermark = node.eventTimeStats.value.max - node.delayMs
        rule.atEventTime(watermark * 1000 + 1)
      case _ => Long.MinValue
    }
  }

  private def declared(side: SparkPlan, rule: FrontierRule): Long =
    rule.declared
      .flatMap { frontier =>
        all(side)
          .collect {
            case node: DeclaresFrontier if node.claim.isSameAs(frontier.claim) => node.seen
          }
          .minOption
          .filter(_ != Long.MinValue)
          .map(frontier.rank.rankFrom)
      }
      .getOrElse(Long.MinValue)

  private def all(plan: SparkPlan): Seq[SparkPlan] = plan match {
    case reused: ReusedExchangeExec => all(reused.child)
    case other => other +: other.children.flatMap(all)
  }
}
