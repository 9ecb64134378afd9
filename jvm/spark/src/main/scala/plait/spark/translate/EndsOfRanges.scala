// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  ImperativeAggregate,
  TypedImperativeAggregate
}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeArrayData}
import org.apache.spark.sql.catalyst.trees.TernaryLike
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, DataType, LongType}

import plait.join.RangeEnds

/** An aggregate over the rows of a home side: until where the rows of each range reach, by [[RangeEnds]], with
  * the greatest of these up to each, and then the cuts by which they were told apart.
  *
  * {{{
  * cuts 10, 20       rows [1, 13] [11, 12] [3, NULL]
  *   13, 12, Long.MinValue        until where each of three ranges reaches
  *   Long.MaxValue, Long.MinValue     afar is nothing
  *   13, 13, 13                   the greatest of the ranges up to each
  *   10, 20                       the cuts
  * }}}
  *
  * The cuts are in it so that what is made of it ([[Places]]) knows none but those.
  *
  * @param first
  *   the low end, a long; a row whose low or high end is NULL is left out
  * @param second
  *   the high end
  * @param third
  *   the cuts, an array of longs, the same for all rows; NULL is none
  * @param enough
  *   so many rows of a range that reach far do not lie afar
  */
final case class EndsOfRanges(
    first: Expression,
    second: Expression,
    third: Expression,
    ranges: Int,
    enough: Long,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends TypedImperativeAggregate[EndsOfRanges.Found]
    with TernaryLike[Expression] {
  import EndsOfRanges.Found

  override def dataType: DataType = ArrayType(LongType, containsNull = false)
  override def nullable: Boolean = false
  override def prettyName: String = "ends_of_ranges"

  override def createAggregationBuffer(): Found = new Found(RangeEnds.of(ranges), Array.empty)

  override def update(found: Found, row: InternalRow): Found = {
    val low = first.eval(row)
    val high = second.eval(row)
    if (low != null && high != null) {
      val cuts = third.eval(row).asInstanceOf[ArrayData]
      if (found.cuts.isEmpty && cuts != null) found.cuts = cuts.toLongArray()
      val (from, to) = (low.asInstanceOf[Long], high.asInstanceOf[Long])
      found.ends.add(RangeOf.countAtMost(from, cuts), RangeOf.countAtMost(to, cuts), from, to)
    }
    found
  }

  override def merge(found: Found, other: Found): Found = {
    if (found.cuts.isEmpty) found.cuts = other.cuts
    found.ends.addAll(other.ends)
    found
  }

  override def eval(found: Found): Any = {
    val ends = found.ends.until(enough)
    val greatest = ends.take(ranges).scanLeft(Long.MinValue)(math.max(_, _)).tail
    UnsafeArrayData.fromPrimitiveArray(ends ++ greatest ++ found.cuts)
  }

  override def serialize(found: Found): Array[Byte] = {
    val longs = found.cuts.length.toLong +: (found.cuts ++ found.ends.toArray)
    val bytes = ByteBuffer.allocate(longs.length * java.lang.Long.BYTES)
    bytes.asLongBuffer().put(longs)
    bytes.array
  }

  override def deserialize(bytes: Array[Byte]): Found = {
    val longs = new Array[Long](bytes.length / java.lang.Long.BYTES)
    ByteBuffer.wrap(bytes).asLongBuffer().get(longs)
    val (cuts, cells) = longs.tail.splitAt(longs.head.toInt)
    new Found(RangeEnds.from(ranges, cells), cuts)
  }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      newFirst: Expression,
      newSecond: Expression,
      newThird: Expression
  ): EndsOfRanges = copy(first = newFirst, second = newSecond, third = newThird)
}

object EndsOfRanges {
  final class Found(val ends: RangeEnds, var cuts: Array[Long])
}
