// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import java.util.Comparator

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.types.ByteArray

import plait.spark.{AtLimit, PlaitConf, RowsOfKey}
import plait.stream.KeyLimit
import plait.{BySide, Side}

/** The limit of the rows of a key, as the settings of a query say it. */
object StreamKeyLimit {
  def of(
      limit: RowsOfKey,
      keys: BySide[Seq[Expression]],
      outputs: BySide[Seq[Attribute]]
  ): KeyLimit[UnsafeRow] = new KeyLimit[UnsafeRow](
    limit.most,
    ByBytes,
    (side, row) =>
      limit.atLimit match {
        case AtLimit.Evict => ()
        case AtLimit.Fail =>
          throw KeyLimitException.of(side, told(keys(side), outputs(side), row), limit.most)
      }
  )

  /** `customer = 'a' AND day = DATE '2026-03-01'` */
  private def told(keys: Seq[Expression], output: Seq[Attribute], row: UnsafeRow): String =
    keys
      .map { key =>
        val value = BindReferences.bindReference(key, output).eval(row)
        s"${key.sql} = ${Literal(value, key.dataType).sql}"
      }
      .mkString(" AND ")
}

/** Tells any two rows of a side apart that differ. */
private object ByBytes extends Comparator[UnsafeRow] {
  override def compare(a: UnsafeRow, b: UnsafeRow): Int =
    ByteArray.compareBinary(a.getBytes, b.getBytes)
}

/** A key has more rows that wait than it may have. */
final class KeyLimitException(message: String) extends IllegalStateException(message)

object KeyLimitException {
  def of(side: Side, key: String, most: Int): KeyLimitException = new KeyLimitException(
    s"The ${side.name} side of a join of streams has more than $most rows to store of the key $key, and " +
      s"${PlaitConf.MostOfKey} is $most. Set it higher, let rows leave sooner (a condition that reaches less far, a watermark " +
      s"that is less behind), or set ${PlaitConf.OnLimit}=evict: of such a key those rows leave whose reach ends first."
  )
}
