// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType}

import plait.spark.translate.BestMatch

/** An as-of join of two streams, from the analysis until the optimizer begins, hidden as by a [[StreamJoinCarrier]].
  * The event times of its rows are those of the join.
  */
final case class StreamAsOfCarrier(
    child: LogicalPlan,
    joinType: JoinType,
    best: BestMatch,
    check: Option[Expression]
) extends UnaryNode {
  override def output: Seq[Attribute] = join.output
  override def metadataOutput: Seq[Attribute] = Nil
  override protected def withNewChildInternal(newChild: LogicalPlan): StreamAsOfCarrier =
    copy(child = newChild)

  def join: AsOfJoin = child match {
    case Join(left, right, _, condition, _) =>
      AsOfJoin(left, right, joinType, best, condition, check)
    case other => throw new IllegalStateException(s"a carrier holds a join, and not $other")
  }
}

object StreamAsOfCarrier {
  def of(join: AsOfJoin): StreamAsOfCarrier = StreamAsOfCarrier(
    Join(join.left, join.right, Inner, join.condition, JoinHint.NONE),
    join.joinType,
    join.best,
    join.check
  )
}
