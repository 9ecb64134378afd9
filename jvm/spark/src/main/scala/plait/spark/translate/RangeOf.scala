// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{DataType, IntegerType}

/** The number of the range in which a rank lies, where an order line is cut: how many cuts are at most
  * the rank.
  *
  * {{{
  * cuts 10, 20, 20, 30      rank 5: 0      rank 10: 1      rank 25: 3      rank 99: 4
  * }}}
  *
  * Conventions:
  *   1. It never falls as the rank rises.
  *   2. Without cuts (NULL: they were taken from no rows) all ranks lie in range 0.
  *   3. Of NULL it is NULL.
  *
  * @param left
  *   the rank, a long
  * @param right
  *   the cuts from low to high, an array of longs
  */
final case class RangeOf(left: Expression, right: Expression) extends BinaryExpression {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = left.nullable
  override def prettyName: String = "range_of"

  override def eval(input: InternalRow): Any = {
    val rank = left.eval(input)
    if (rank == null) null
    else RangeOf.countAtMost(rank.asInstanceOf[Long], right.eval(input).asInstanceOf[ArrayData])
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val rank = left.genCode(ctx)
    val cuts = right.genCode(ctx)
    val ranges = RangeOf.getClass.getName.stripSuffix("$")
    ev.copy(code = code"""
      ${rank.code}
      ${cuts.code}
      boolean ${ev.isNull} = ${rank.isNull};
      int ${ev.value} = ${ev.isNull} ? 0
        : $ranges.countAtMost(${rank.value}, ${cuts.isNull} ? null : ${cuts.value});""")
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): RangeOf = copy(left = newLeft, right = newRight)
}

object RangeOf {

  /** @param cuts
    *   or null
    */
  def countAtMost(rank: Long, cuts: ArrayData): Int =
    if (cuts == null) 0 else countAtMost(rank, cuts, 0, cuts.numElements())

  /** @param from
    *   where the cuts begin
    * @param until
    *   where they end
    */
  def countAtMost(rank: Long, cuts: ArrayData, from: Int, until: Int): Int = {
    var below = from
    var above = until
    // Invariant: cuts before `below` are at most the rank, those from `above` on are greater.
    while (below < above) {
      val middle = (below + above) >>> 1
      if (cuts.getLong(middle) <= rank) below = middle + 1 else above = middle
    }
    below - from
  }
}
