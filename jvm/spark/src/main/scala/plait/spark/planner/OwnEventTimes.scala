// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

import plait.spark.plan.StreamAsOfCarrier
import plait.spark.translate.EventTimeColumn

/** Above an as-of join of streams the times of its right side are event times no longer, and what was resolved before
  * the join was known says otherwise:
  *
  * {{{
  * SELECT l.ts, r.ts AS since FROM l ASOF JOIN r ...     since is a time like any other
  * ... GROUP BY window(r.ts, '1 hour')                   has no watermark
  * }}}
  *
  * Taken for event times they would make rows late whose version is old.
  */
object OwnEventTimes {
  def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[StreamAsOfCarrier])) plan
    else
      plan.resolveOperatorsUp { case node =>
        val columns = stale(node)
        if (columns.isEmpty) node else unmarked(node, columns)
      }

  /** Columns that are event times where they are read, and none where they come from. */
  private def stale(node: LogicalPlan): AttributeSet = {
    val read = node.references.filter(EventTimes.isTime)
    if (read.isEmpty) AttributeSet.empty
    else {
      val below = AttributeSet(node.children.flatMap(_.output).filterNot(EventTimes.isTime))
      read.filter(below.contains)
    }
  }

  private def unmarked(node: LogicalPlan, stale: AttributeSet): LogicalPlan =
    node.transformExpressionsUp {
      case column: AttributeReference if stale.contains(column) => EventTimeColumn.unmarked(column)
      case alias: Alias if isMarked(alias.explicitMetadata) && readsOf(alias, stale) =>
        Alias(alias.child, alias.name)(
          alias.exprId,
          alias.qualifier,
          alias.explicitMetadata.map(without),
          alias.nonInheritableMetadataKeys
        )
    }

  private def readsOf(alias: Alias, stale: AttributeSet) =
    alias.child.references.exists(stale.contains)

  private def isMarked(metadata: Option[Metadata]) =
    metadata.exists(_.contains(EventTimeWatermark.delayKey))

  private def without(metadata: Metadata): Metadata =
    new MetadataBuilder().withMetadata(metadata).remove(EventTimeWatermark.delayKey).build()
}
