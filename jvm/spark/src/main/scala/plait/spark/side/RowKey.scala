// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods
import org.apache.spark.unsafe.types.UTF8String

/** The key of a row as [[HashKeyTable]] looks it up: by `keyValue` if it fits a long
  * ([[KeyForm.Whole]]); by the bytes of a text ([[KeyForm.Text]]), which lie where they lay; else by the
  * bytes of `key`. Valid until the next row.
  */
abstract class RowKey {
  final var key: UnsafeRow = _
  final var keyValue: Long = 0
  final private[side] var textBase: AnyRef = _
  final private[side] var textOffset: Long = 0
  final private[side] var textBytes: Int = 0

  final protected def keyIs(text: UTF8String): Unit = {
    textBase = text.getBaseObject
    textOffset = text.getBaseOffset
    textBytes = text.numBytes
  }

  /** A text that is a column of the row: no object is made of it. */
  final protected def keyLiesIn(in: UnsafeRow, column: Int): Unit = {
    // As UnsafeRow has it: where it begins, from the row's first byte on, and its bytes.
    val place = in.getLong(column)
    textBase = in.getBaseObject
    textOffset = in.getBaseOffset + (place >>> 32)
    textBytes = place.toInt
  }

  final private[side] def isSameText(other: RowKey): Boolean =
    textBytes == other.textBytes && ByteArrayMethods.arrayEquals(
      textBase,
      textOffset,
      other.textBase,
      other.textOffset,
      textBytes.toLong
    )
}

/** A key that outlives the reading of the next row: what it is made of is copied. */
final class HeldKey extends RowKey {
  private var text = new Array[Byte](64)

  def hold(other: RowKey): Unit = {
    keyValue = other.keyValue
    if (other.key != null) {
      if (key == null) key = other.key.copy() else key.copyFrom(other.key)
    }
    holdText(other)
  }

  private def holdText(other: RowKey): Unit = {
    textBytes = other.textBytes
    if (textBytes > text.length) text = new Array[Byte](textBytes)
    if (textBytes > 0) {
      textBase = text
      textOffset = Platform.BYTE_ARRAY_OFFSET.toLong
      Platform.copyMemory(
        other.textBase,
        other.textOffset,
        text,
        textOffset,
        textBytes.toLong
      )
    }
  }
}
