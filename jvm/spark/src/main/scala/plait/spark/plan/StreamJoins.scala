// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionSet}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.translate.JoinedColumns
import plait.{BySide, Side}

/** A join of two streams of a type that Spark may refuse, from the start of the query until the optimizer begins. Spark's
  * check of streaming plans sees an INNER join below a node that it does not know, and plans for state.
  *
  * {{{
  * Join(l, r, LeftAnti, c)      StreamJoinCarrier(Join(l, r, Inner, c), LeftAnti)
  * }}}
  */
final case class StreamJoinCarrier(child: LogicalPlan, joinType: JoinType) extends UnaryNode {
  private def sides = child.children
  override def output: Seq[Attribute] =
    if (sides.size != 2) child.output
    else JoinedColumns.of(joinType, sides.head.output, sides.last.output)
  override def metadataOutput: Seq[Attribute] = Nil
  override protected def withNewChildInternal(newChild: LogicalPlan): StreamJoinCarrier =
    copy(child = newChild)

  def join: Join = child match {
    case inner: Join => inner.copy(joinType = joinType)
    case other => throw new IllegalStateException(s"a carrier holds a join, and not $other")
  }
}

/** The side of a SEMI or ANTI join of streams while the optimizer is at work. It may not push such a join
  * below a UNION or an aggregation: state would move with it.
  */
final case class KeptTogether(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected lazy val validConstraints: ExpressionSet = child.constraints
  override protected def withNewChildInternal(newChild: LogicalPlan): KeptTogether =
    copy(child = newChild)
}

/** A join of two streams that Plait runs, once the optimizer has done its work. Spark's strategy for joins of
  * streams comes before all others and would take it.
  *
  * @param read
  *   the columns of its rows that something above it reads
  * @param ranges
  *   what rows are dealt by, where there is no equality; None: not at all
  */
final case class StreamJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Option[Expression],
    hint: JoinHint,
    read: Seq[Attribute],
    ranges: Option[StreamJoin.Ranges] = None
) extends BinaryNode {
  def join: Join = Join(left, right, joinType, condition, hint)
  override def output: Seq[Attribute] = join.output
  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): StreamJoin = copy(left = newLeft, right = newRight)
}

object StreamJoin {

  /** The ranges of the order line in which the rows of each side lie.
    *
    * @param columns
    *   which hold the number of the range
    * @param home
    *   the side whose rows lie in one
    * @param width
    *   of each, in ranks
    */
  final case class Ranges(columns: BySide[Attribute], home: Side, width: Long)
}
