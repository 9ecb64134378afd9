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

  /** By their bytes, as UTF8String has it, of which none is made: a key is compared for each row. */
  final private[side] def compareText(other: RowKey): Int = {
    val both = math.min(textBytes, other.textBytes)
    val inWords = both & ~7
    var at = 0
    // Invariant: the bytes before `at` are the same.
    while (at < inWords && word(at) == other.word(at)) at += 8
    while (at < both && byte(at) == other.byte(at)) at += 1
    if (at < both) byte(at) - other.byte(at) else textBytes - other.textBytes
  }

  private def word(at: Int): Long = Platform.getLong(textBase, textOffset + at)
  private def byte(at: Int): Int = Platform.getByte(textBase, textOffset + at) & 0xff
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
