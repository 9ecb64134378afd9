// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{FullOuter, RightOuter}
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.streaming.OutputMode

import plait.spark.plan.{AsOfJoin, ClauseError, ReadAnew}

/** Refuses an as-of or temporal join of a stream that would not be what the query says. With a table on its
  * right side a row of the stream is answered in its own micro-batch, and that for good:
  *
  * {{{
  * left side    right side
  * stream       table         joined, but for RIGHT and FULL, and for a stream that takes rows back
  * table        stream        refused
  * stream       stream        joined as StreamAsOf says
  * }}}
  */
object AsOfJoinCheck extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = {
    plan.foreach {
      case join: AsOfJoin => whyNot(join).foreach(refuse(_, join))
      case table: ReadAnew =>
        table.foreachWithSubqueries(t => FreshFiles.whyNot(t).foreach(refuse(_, t)))
      case _ => ()
    }
    plan.foreach {
      case query: WriteToStream if query.outputMode != OutputMode.Append =>
        query.child.foreach(join => ofUpdates(join, query.outputMode).foreach(refuse(_, join)))
      case _ => ()
    }
  }

  /** Why the sides cannot be joined, if one of them streams. */
  private def whyNot(join: AsOfJoin): Option[String] =
    if (!join.isStreaming) None
    else if (join.left.isStreaming && join.right.isStreaming)
      StreamAsOf.whyNot(join)
    else if (join.right.isStreaming) Some(OfTable)
    else
      join.joinType match {
        case RightOuter | FullOuter =>
          Some(
            s"${join.joinType.sql} ASOF JOIN of a stream with a table is not supported, because a row of the table " +
              "that no row has picked yet may be picked by a later one: take INNER, LEFT, LEFT SEMI or LEFT ANTI"
          )
        case _ => None
      }

  /** Why there is no as-of or temporal join of a table with a stream. */
  val OfTable: String =
    "As-of and temporal joins of a table with a stream on the right side are not supported, because a row of the " +
      "table would have to wait for all rows that are still to come: put the stream on the left side"

  private def ofUpdates(plan: LogicalPlan, mode: OutputMode): Option[String] = {
    val left = plan match {
      case Join(left, _: ReadAnew, _, _, _) => Some(left)
      case AsOfJoin(left, _: ReadAnew, _, _, _, _, _) => Some(left)
      case _ => None
    }
    left.filter(_.exists(hasUpdates)).map { _ =>
      s"The output mode ${mode.toString.toLowerCase} is not supported for an as-of or temporal join of aggregated rows of a " +
        "stream, because a row that has come out cannot be taken back when its aggregate changes: use a watermark and " +
        "the output mode append"
    }
  }

  /** Do rows come out again, changed, in every output mode but append? */
  private def hasUpdates(plan: LogicalPlan): Boolean = plan.isStreaming && (plan match {
    case _: Aggregate | _: Distinct => true
    case state: FlatMapGroupsWithState => isUpdate(state.outputMode)
    case state: FlatMapGroupsInPandasWithState => isUpdate(state.outputMode)
    case state: TransformWithState => isUpdate(state.outputMode)
    case state: TransformWithStateInPySpark => isUpdate(state.outputMode)
    case _ => false
  })

  private def isUpdate(mode: OutputMode): Boolean = mode != OutputMode.Append

  private def refuse(sentence: String, at: LogicalPlan): Unit =
    throw ClauseError(sentence, at.origin)
}
