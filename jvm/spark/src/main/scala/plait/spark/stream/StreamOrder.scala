// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

import plait.order.Direction
import plait.spark.OrderViolation
import plait.spark.side.OrderViolatedException
import plait.spark.translate.OrderValue

/** The declared order by which rows of a side of a join may come too late, and what becomes of those. */
final class StreamOrder(
    @transient declared: DeclaredFrontier,
    output: Seq[Attribute],
    val onViolation: OrderViolation,
    zone: String
) extends Serializable {
  private val order = s"${declared.claim.order.child.sql} ${declared.claim.order.direction.sql}"
  private val relation = declared.claim.relation
  private val direction = declared.direction
  private val value = declared.value
  private val name =
    if (value.semanticEquals(declared.claim.order.child)) "" else s"${value.sql} = "

  /** @param frontier
    *   the rank behind which the row is
    */
  def violated(row: InternalRow, frontier: Long): OrderViolatedException = {
    val own = text(BindReferences.bindReference(value, output), row)
    val before = OrderValue
      .value(if (direction eq Direction.Descending) ~frontier else frontier, value.dataType)
      .fold("those of earlier batches")(text(_, row))
    new OrderViolatedException(
      relation,
      order,
      s"$name$own",
      s"comes where earlier batches let none come before $before any more",
      "set spark.plait.order.violation to drop, which leaves such rows out and counts them"
    )
  }

  private def text(value: Expression, row: InternalRow) =
    String.valueOf(Cast(value, StringType, Some(zone)).eval(row))
}
