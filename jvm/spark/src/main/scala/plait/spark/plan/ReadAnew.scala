// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** The side of a join that does not stream, beside one that does. Every micro-batch reads it as it is
  * then, and not as it was when the query was analysed:
  *
  * {{{
  * STREAM o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c
  *     AsOfJoin(o, ReadAnew(rates))
  * }}}
  *
  * It goes when the plan of a micro-batch is made, by [[plait.spark.planner.ReadTablesAnew]].
  */
final case class ReadAnew(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected lazy val validConstraints: ExpressionSet = child.constraints

  override protected def withNewChildInternal(newChild: LogicalPlan): ReadAnew =
    copy(child = newChild)
}

object ReadAnew {

  /** The right side of a join, to be read anew if the left side streams and it does not. */
  def beside(left: LogicalPlan, right: LogicalPlan): LogicalPlan = right match {
    case _: ReadAnew => right
    case _ if left.isStreaming && !right.isStreaming => ReadAnew(right)
    case _ => right
  }
}
