// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.types.StringType

import plait.spark.side.OrderViolatedException

/** What the rows of a relation are claimed to keep, to be checked in tasks:
  *
  * {{{
  * a row is kept if its order is NULL, or not before the greatest frontier so far
  * frontier = order - slack (order + slack if descending); without slack the order itself
  * }}}
  *
  * Conventions:
  *   1. The claim is of each file, or of each part of one that is read by itself: it begins anew where
  *      the input moves to another. Rows that come from no file are one stretch a partition.
  *   2. A row whose frontier is NULL (no value, or an overflow) moves nothing.
  *   3. A row out of order moves nothing either: its own frontier lies before the one that it broke.
  */
final class OrderClaim(
    order: SortOrder,
    frontier: Option[Expression],
    relation: String,
    output: Seq[Attribute],
    zone: String
) extends Serializable {
  // Values are compared as what a difference of the order is: a DATE less some hours is a TIMESTAMP.
  private val dataType = frontier.fold(order.dataType)(_.dataType)
  private val value = cast(order.child)

  def check(): OrderCheck = new OrderCheck(
    UnsafeProjection.create(Seq(value), output),
    frontier.map(ahead => UnsafeProjection.create(Seq(ahead), output)),
    GenerateOrdering.generate(
      Seq(SortOrder(BoundReference(0, dataType, nullable = true), order.direction))
    ),
    (frontierOfOther, row) => violated(frontierOfOther, row)
  )

  private def cast(e: Expression) = if (e.dataType == dataType) e else Cast(e, dataType, Some(zone))

  private def violated(greatest: InternalRow, row: InternalRow): OrderViolatedException = {
    val text = Cast(BoundReference(0, dataType, nullable = true), StringType, Some(zone))
    def shown(one: InternalRow) = String.valueOf(text.eval(one))
    val after =
      if (frontier.isEmpty) s"comes after ${shown(greatest)}"
      else s"comes where the slack lets none come before ${shown(greatest)} any more"
    new OrderViolatedException(
      relation,
      s"${order.child.sql} ${order.direction.sql}",
      shown(row),
      after,
      "set spark.plait.order.violation to drop such rows or to keep them"
    )
  }
}

/** The check of one partition.
  *
  * @param frontierOf
  *   None where a row's value is its frontier
  */
final class OrderCheck(
    valueOf: UnsafeProjection,
    frontierOf: Option[UnsafeProjection],
    ordering: Ordering[InternalRow],
    exception: (InternalRow, InternalRow) => OrderViolatedException
) {
  private val greatest = UnsafeRow.createFromByteArray(16, 1)
  private var hasGreatest = false

  /** What comes from here on was read from another file. */
  def beginAnew(): Unit = hasGreatest = false

  def isKept(row: InternalRow): Boolean = {
    val value = valueOf(row)
    val kept = value.isNullAt(0) || !hasGreatest || ordering.compare(value, greatest) >= 0
    if (kept) {
      val frontier = if (frontierOf.isEmpty) value else frontierOf.get(row)
      if (!frontier.isNullAt(0) && (!hasGreatest || ordering.compare(frontier, greatest) > 0)) {
        greatest.copyFrom(frontier)
        hasGreatest = true
      }
    }
    kept
  }

  def violated(row: InternalRow): OrderViolatedException = exception(greatest, valueOf(row))
}
