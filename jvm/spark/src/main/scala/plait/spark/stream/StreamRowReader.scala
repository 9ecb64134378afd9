// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.plait.TaskWatch

import plait.spark.side.{HashKeyTable, RowKey, SideReader}
import plait.stream.StreamReader

/** A row of a stream as the core reads it, and its key as the table looks it up.
  * @param watch
  *   told of each row that is read: a micro-batch is long over its rows before one comes out
  */
final class StreamRowReader(reader: SideReader, keys: HashKeyTable, watch: TaskWatch)
    extends RowKey
    with StreamReader[UnsafeRow] {

  def read(row: UnsafeRow): Unit = {
    watch.saw(1)
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
