// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.spark.side.{HashKeyTable, RowKey, SideReader}
import plait.stream.StreamReader

/** A row of a stream as the core reads it, and its key as the table looks it up. */
final class StreamRowReader(reader: SideReader, keys: HashKeyTable)
    extends RowKey
    with StreamReader[UnsafeRow] {

  def read(row: UnsafeRow): Unit = {
    reader.read(row)
    key = reader.key
    keyValue = reader.keyValue
  }

  def hasRank: Boolean = reader.hasRank
  def rank: Long = reader.rank
  def reaches: Boolean = reader.reaches
  def low: Long = reader.low
  def high: Long = reader.high
  def hash: Int = keys.hash(this)
}
