// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, GetStructField}
import org.apache.spark.sql.types._

import plait.Side
import plait.constraint.Term
import plait.order.SolvedReach

/** The reach of a row, found by the solver: `(low, high)` in ranks, NULL if the row reaches nothing.
  *
  * {{{
  * abs(l.x - r.x) <= 5      left row x = 100.0      (rank of 95.0, rank of 105.0)
  * }}}
  *
  * A value that cannot be computed may never be needed (`l.n = 0 OR 10 div l.n > r.x`), so an error
  * says nothing of it.
  *
  * @param condition
  *   the join's condition as the core takes it
  * @param order
  *   the other side's order
  * @param own
  *   the terms over the row's side whose values are needed
  * @param children
  *   what computes them
  */
final case class SolvedReachValue(
    condition: Term,
    side: Side,
    order: Term,
    own: IndexedSeq[Term],
    children: Seq[Expression]
) extends Expression
    with CodegenFallback {
  @transient private lazy val reach = new SolvedReach(condition, side, order, own)
  @transient private lazy val unknown = children.map(c => OrderedType.domain(c.dataType).get.all)

  override def dataType: DataType = SolvedReachValue.lowAndHigh
  override def nullable: Boolean = true

  override def eval(input: InternalRow): Any = {
    val values = children.indices.map { i =>
      try OrderedType.possible(children(i).eval(input), children(i).dataType)
      catch { case _: Exception => unknown(i) }
    }
    reach.ranks(values) match {
      case Some((low, high)) => InternalRow(low, high)
      case None => null
    }
  }

  /** The condition is long, and stands in the node's own description. */
  override def toString: String = s"reach in $order"

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): SolvedReachValue = copy(children = newChildren)
}

object SolvedReachValue {
  private val lowAndHigh = StructType(
    Seq(
      StructField("low", LongType, nullable = false),
      StructField("high", LongType, nullable = false)
    )
  )

  /** Low and high end. */
  def ends(choice: SolvedReach, translation: ConditionTranslation): (Expression, Expression) = {
    val value = of(choice, translation)
    (GetStructField(value, 0), GetStructField(value, 1))
  }

  private def of(
      choice: SolvedReach,
      translation: ConditionTranslation
  ): SolvedReachValue =
    SolvedReachValue(
      choice.condition,
      choice.side,
      choice.order,
      choice.own,
      choice.own.map(term => translation.source(term).get)
    )
}
