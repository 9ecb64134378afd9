// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, TernaryExpression, UnsafeArrayData}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, DataType, IntegerType}

/** Where the rows of a home side lie that are stretches, and where a row of the other side finds all that it
  * may match. A place is a range, or afar ([[plait.join.RangeEnds]]).
  *
  * {{{
  * cuts 10, 20, 30; ranges stay until 13, 12, 28, Long.MinValue; afar from 3 to 99
  *   home       [2, 13]       range 0           [3, 99]     afar, as 99 > 13
  *   seeking    [12, 12]      range 0, range 1 (not 2: nothing there begins by 12), afar
  *              [29, 29]      afar: range 2 ends at 28
  * }}}
  *
  * Conventions:
  *   1. A home row [low, high] and a seeking row may match only if the one's low end is at most the other's high
  *      end, and so the other way round; then the home row's place is among those that the seeking row reaches.
  *   2. A range i has the number 2 i, afar has 1.
  *   3. A range without rows stays until Long.MinValue; only who seeks from there on goes there, for nothing.
  *   4. A home row that the ends were not taken from, and that lies outside of what they say, is an error: what it
  *      matches might have gone elsewhere.
  *
  * The ends are those of [[EndsOfRanges]].
  */
object Places {
  private val Afar = 1

  def of(low: Long, high: Long, ends: ArrayData, ranges: Int): Int = {
    val range = rangeOf(low, ends, ranges)
    if (high <= ends.getLong(range)) 2 * range
    else if (low >= ends.getLong(ranges) && high <= ends.getLong(ranges + 1)) Afar
    else throw new RowsChangedException
  }

  def reached(low: Long, high: Long, ends: ArrayData, ranges: Int): ArrayData = {
    var range = firstUntil(low, ends, ranges)
    val last = rangeOf(high, ends, ranges)
    val found = new Array[Int](math.max(last - range, -1) + 2)
    var count = 0
    if (high >= ends.getLong(ranges) && low <= ends.getLong(ranges + 1)) {
      found(count) = Afar
      count += 1
    }
    // Invariant: those before `range` that stay until `low` are in `found`.
    while (range <= last) {
      if (ends.getLong(range) >= low) {
        found(count) = 2 * range
        count += 1
      }
      range += 1
    }
    UnsafeArrayData.fromPrimitiveArray(java.util.Arrays.copyOf(found, count))
  }

  /** The first range that stays until `low`, by the greatest ends up to each. */
  private def firstUntil(low: Long, ends: ArrayData, ranges: Int): Int =
    if (low == Long.MinValue) 0
    else RangeOf.countAtMost(low - 1, ends, ranges + 2, 2 * ranges + 2)

  /** By the cuts, which stand behind them. */
  private def rangeOf(rank: Long, ends: ArrayData, ranges: Int): Int =
    RangeOf.countAtMost(rank, ends, 2 * ranges + 2, ends.numElements())

  private[translate] val name: String = getClass.getName.stripSuffix("$")
}

/** What [[Places]] says of the low end, the high end, and the ends of ranges; NULL if one is. */
sealed abstract class PlaceExpression extends TernaryExpression {
  def ranges: Int

  /** Of [[Places]]. */
  protected def function: String
  override def nullIntolerant: Boolean = true

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(
      ctx,
      ev,
      (low, high, ends) => s"${Places.name}.$function($low, $high, $ends, $ranges)"
    )
}

/** The place of a home row. */
final case class PlaceOf(first: Expression, second: Expression, third: Expression, ranges: Int)
    extends PlaceExpression {
  override protected def function: String = "of"
  override def dataType: DataType = IntegerType
  override def prettyName: String = "place_of"

  override protected def nullSafeEval(low: Any, high: Any, ends: Any): Any =
    Places.of(
      low.asInstanceOf[Long],
      high.asInstanceOf[Long],
      ends.asInstanceOf[ArrayData],
      ranges
    )

  override protected def withNewChildrenInternal(
      newFirst: Expression,
      newSecond: Expression,
      newThird: Expression
  ): PlaceOf = copy(first = newFirst, second = newSecond, third = newThird)
}

/** The places that a row of the other side reaches. */
final case class PlacesReached(
    first: Expression,
    second: Expression,
    third: Expression,
    ranges: Int
) extends PlaceExpression {
  override protected def function: String = "reached"
  override def dataType: DataType = ArrayType(IntegerType, containsNull = false)
  override def prettyName: String = "places_reached"

  override protected def nullSafeEval(low: Any, high: Any, ends: Any): Any =
    Places.reached(
      low.asInstanceOf[Long],
      high.asInstanceOf[Long],
      ends.asInstanceOf[ArrayData],
      ranges
    )

  override protected def withNewChildrenInternal(
      newFirst: Expression,
      newSecond: Expression,
      newThird: Expression
  ): PlacesReached = copy(first = newFirst, second = newSecond, third = newThird)
}
