// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.types._

import plait.{BySide, Side}

/** How the state of a join of streams lies in one state store a partition: four kinds of entries a side.
  *
  * {{{
  * key                              value
  * side  kind      segment number   hashes ranks ends    left or right   bits    numbers
  * 0     0 root    0       0                                                     next segment, frontier, ids
  * 0     1 segment 7       0                                                     of each chunk: hashes, counts, ...
  * 0     2 chunk   7       3        one a row            the rows
  * 0     3 bits    7       3                                             one bit a row
  * }}}
  *
  * Conventions:
  *   1. Side 0 is the left one, 1 the right one.
  *   2. What an entry does not need is NULL.
  *   3. Only `get`, `put` and `remove` are asked of the store, so any of Spark's will do. The `statestore`
  *      source reads it like any other state.
  *
  * @param outputs
  *   the columns of each side
  */
final class StateLayout(outputs: BySide[Seq[Attribute]]) extends Serializable {

  val valueSchema: StructType = StructType(
    Seq(
      StructField("hashes", ArrayType(IntegerType, containsNull = false)),
      StructField("ranks", ArrayType(LongType, containsNull = false)),
      StructField("ends", ArrayType(LongType, containsNull = false)),
      StructField("left", rowsOf(outputs.left)),
      StructField("right", rowsOf(outputs.right)),
      StructField("bits", ArrayType(LongType, containsNull = false)),
      StructField("numbers", ArrayType(LongType, containsNull = false))
    )
  )

  private def rowsOf(output: Seq[Attribute]): DataType = ArrayType(
    StructType(output.map(a => StructField(a.name, a.dataType))),
    containsNull = false
  )

  def width(side: Side): Int = outputs(side).size
}

object StateLayout {

  /** Changes whenever what is stored changes its meaning; `FORMAT` of `plait/stream/state.py` reads it. */
  val Version: Long = 4L

  val keySchema: StructType = StructType(
    Seq(
      StructField("side", ByteType, nullable = false),
      StructField("kind", ByteType, nullable = false),
      StructField("segment", LongType, nullable = false),
      StructField("number", IntegerType, nullable = false)
    )
  )

  val Root: Byte = 0
  val SegmentKind: Byte = 1
  val ChunkKind: Byte = 2
  val BitsKind: Byte = 3

  // The fields of a value.
  val Hashes = 0
  val Ranks = 1
  val Ends = 2
  def rows(side: Side): Int = if (side eq Side.Left) 3 else 4
  val Bits = 5
  val Numbers = 6
  val Fields = 7

  /** The key of an entry, in a row that is used again. */
  final class Key(side: Side) {
    private val row = new UnsafeRow(keySchema.size)
    private val size = UnsafeRow.calculateBitSetWidthInBytes(keySchema.size) + 8 * keySchema.size
    row.pointTo(new Array[Byte](size), size)
    row.setByte(0, if (side eq Side.Left) 0 else 1)

    def apply(kind: Byte, segment: Long, number: Int): UnsafeRow = {
      row.setByte(1, kind)
      row.setLong(2, segment)
      row.setInt(3, number)
      row
    }
  }
}
