// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, UnaryNode}

/** A call of a window function as it was written, until its table and its columns are known:
  *
  * {{{
  * SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL 5 MINUTES)
  *     WindowedTable(Session, ts, (k), (5 minutes), None, None, t)
  * }}}
  *
  * [[plait.spark.planner.ResolveWindowedTable]] makes plain nodes of Spark of it.
  *
  * @param instead
  *   the same call as Spark understands it, where a function of the user may be meant
  */
final case class WindowedTable(
    function: WindowFunction,
    time: Expression,
    keys: Seq[Expression],
    lengths: Seq[Expression],
    offset: Option[Expression],
    instead: Option[Carried[LogicalPlan]],
    child: LogicalPlan
) extends UnaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): WindowedTable =
    copy(child = newChild)
}

/** A call that would be of a window function if its arguments were not wrong, until it is known whether the user has
  * a function of its name: `TUMBLE(t, ts)`, which lacks SIZE.
  */
final case class UnfitWindowCall(
    function: WindowFunction,
    why: Carried[ParseException],
    instead: Carried[LogicalPlan]
) extends LeafNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = Nil
}
