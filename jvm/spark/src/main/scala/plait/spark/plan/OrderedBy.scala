// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The rows of a relation, of which somebody has declared an order: none comes before the greatest so
  * far, less a slack. The claim is of each file that is read, or of each partition where none is, and
  * is checked while it is read.
  *
  * {{{
  * ORDERED(l, seq, 100)             order seq ASC      frontier seq - 100
  *   seq  500 450 390               390 comes after 500, more than 100 behind: the claim is wrong
  * }}}
  *
  * It is no order that Spark may rely on: files share partitions, a shuffle ends any order, and rows
  * whose order is NULL stand anywhere. It tells a join by what to sort, and what its data claims.
  *
  * @param frontier
  *   what no later row comes before, as this row alone says; None without slack: the order itself
  * @param relation
  *   its name, for people
  */
final case class OrderedBy(
    order: SortOrder,
    frontier: Option[Expression],
    relation: String,
    child: LogicalPlan,
    declared: DeclaredBy = DeclaredBy.Query
) extends Claim {
  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  /** What a table says of its files is not of the rows: they are found in the cache by who reads them without it. */
  override protected def doCanonicalize(): LogicalPlan =
    if (declared == DeclaredBy.Table) child.canonicalized else super.doCanonicalize()

  override protected def withNewChildInternal(newChild: LogicalPlan): OrderedBy =
    copy(child = newChild)
}

/** Who declares an order: a query, of the rows as it finds them, or a table, of its files. */
sealed trait DeclaredBy
object DeclaredBy {
  case object Query extends DeclaredBy
  case object Table extends DeclaredBy
}

object OrderedBy {

  /** An overflow of `order - slack` is no frontier, and no error. */
  def of(
      order: SortOrder,
      slack: Option[Expression],
      name: String,
      child: LogicalPlan
  ): OrderedBy = {
    val frontier = slack.map { s =>
      val context = NumericEvalContext(EvalMode.TRY)
      if (order.direction == Descending) Add(order.child, s, context)
      else Subtract(order.child, s, context)
    }
    OrderedBy(order, frontier, name, child)
  }
}
