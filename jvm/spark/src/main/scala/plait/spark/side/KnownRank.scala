// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  BitwiseNot,
  BoundReference,
  Coalesce,
  Expression,
  UnaryExpression
}
import org.apache.spark.sql.types.DataType

import plait.order.Direction
import plait.spark.translate.OrderValue

/** The order value of a row, taken from the rank that whoever sorted the row has computed; else computed.
  *
  * {{{
  * order unix_date(d) DESC
  *   rank              ~orderValue(unix_date(d))            known rank
  *   end of the reach  orderValue(unix_date(d)) + 7         ~(known rank) + 7
  * }}}
  *
  * It is a part of the code of a [[SideReader]], whose `knownRank` it reads, and means nothing elsewhere.
  *
  * Not promised: that anything else of a row is computed once; the elimination of common subexpressions sees to that.
  *
  * @param direction
  *   of the order: the rank of a descending one is the complement of the value
  */
final case class KnownRank(child: Expression, direction: Direction) extends UnaryExpression {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(input: InternalRow): Any = child.eval(input)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val computed = child.genCode(ctx)
    val sign = if (direction == Direction.Ascending) "" else "~"
    ev.copy(code = code"""
      boolean ${ev.isNull} = false;
      ${CodeGenerator.javaType(dataType)} ${ev.value} = ${sign}knownRank();
      if (knownRank() == ${SideReader.Unknown}L) {
        ${computed.code}
        ${ev.isNull} = ${computed.isNull};
        ${ev.value} = ${computed.value};
      }""")
  }

  override protected def withNewChildInternal(newChild: Expression): KnownRank =
    copy(child = newChild)
}

object KnownRank {

  /** Rank and ends of a reach, bound to the row, with all that is the row's own order value taken from its known rank.
    * A column is as quickly read again.
    */
  def in(ranks: Seq[Expression]): Seq[Expression] = ranks.headOption.flatMap(order) match {
    case Some((value, direction)) if !value.child.isInstanceOf[BoundReference] =>
      ranks.map(_.transformUp {
        case each: OrderValue if each.semanticEquals(value) => KnownRank(each, direction)
      })
    case _ => ranks
  }

  private def order(rank: Expression): Option[(OrderValue, Direction)] = rank match {
    case value: OrderValue => Some((value, Direction.Ascending))
    case BitwiseNot(value: OrderValue) => Some((value, Direction.Descending))
    case Coalesce(Seq(rank, _)) => order(rank)
    case _ => None
  }
}
