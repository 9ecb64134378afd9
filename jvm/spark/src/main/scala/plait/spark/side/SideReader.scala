// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}

/** Reads key, rank and reach off the rows of one side, with code that Spark generates.
  *
  * {{{
  * reader.read(row)      (key 'JFK', s 100)
  * reader.key            'JFK'          reader.rank 100      reader.low 94      reader.high 95
  * }}}
  *
  * Conventions:
  *   1. A row *reaches* something if no key column is NULL and rank and both ends have values; else
  *      `key`, `low` and `high` say nothing.
  *   2. `hasRank` is apart from that: such a row moves the frontier even if it matches nothing.
  *   3. What it gives is valid until the next `read`.
  *
  * @param ranks
  *   rank, low, high, all of type long
  */
final class SideReader(keys: Seq[Expression], ranks: Seq[Expression], output: Seq[Attribute]) {
  private val keyOf = UnsafeProjection.create(keys, output)
  private val ranksOf = UnsafeProjection.create(ranks, output)
  private val copyOf = UnsafeProjection.create(output, output)
  private var ranked: UnsafeRow = _

  var row: UnsafeRow = _
  var key: UnsafeRow = _
  var rank: Long = 0
  var low: Long = 0
  var high: Long = 0
  var hasRank: Boolean = false
  var reaches: Boolean = false

  def read(source: InternalRow): Unit = {
    row = source match {
      case unsafe: UnsafeRow => unsafe
      case other => copyOf(other)
    }
    ranked = ranksOf(row)
    hasRank = !ranked.isNullAt(0)
    rank = ranked.getLong(0)
    reaches = !ranked.anyNull
    if (reaches) {
      low = ranked.getLong(1)
      high = ranked.getLong(2)
      key = keyOf(row)
      reaches = !key.anyNull
    }
  }
}
