// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{JoinStrategyHint, LogicalPlan, UnaryNode}
import org.apache.spark.sql.internal.SQLConf

import plait.spark.{JoinStrategyChoice, PlaitConf}

/** A query of streams that goes on from a checkpoint, and who runs those of its joins of which no hint says it.
  *
  * {{{
  * FROM a, dim, b WHERE a.k = b.k AND b.v = dim.v      the checkpoint has state of a JOIN b
  *   a JOIN dim JOIN b                                 as the query says
  *   a JOIN b JOIN dim                                 as the optimizer orders them, if no join has a hint
  * }}}
  *
  * It stands above the query until the optimizer has done all else, and not on its joins: then they are ordered as
  * they were when the checkpoint was made.
  */
final case class JoinsOfCheckpoint(child: LogicalPlan, runBy: JoinStrategyHint) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): JoinsOfCheckpoint =
    copy(child = newChild)
}

object JoinsOfCheckpoint {

  /** Runs a rule over a query that starts, or over a micro-batch of it, with what the checkpoint says as the session's setting. */
  def asChosen[A](plan: LogicalPlan)(made: => A): A =
    (if (plan.isStreaming) plan.collectFirst(choice) else None) match {
      case Some(PlaitJoinHint.SYMMETRIC_HASH) => under(JoinStrategyChoice.Auto)(made)
      case Some(_) => under(JoinStrategyChoice.Never)(made)
      case None => made
    }

  private val choice: PartialFunction[LogicalPlan, JoinStrategyHint] = {
    case JoinsOfCheckpoint(_, runBy) => runBy
  }

  private def under[A](choice: JoinStrategyChoice)(made: => A): A = {
    val conf = SQLConf.get.clone()
    conf.setConfString(PlaitConf.Enabled, "true")
    conf.setConfString(PlaitConf.JoinStrategy, choice.name)
    SQLConf.withExistingConf(conf)(made)
  }
}
