// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.io.{DataInputStream, OutputStream}

import org.apache.spark.SparkEnv
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.plait.{SpillFolder, SpillStream}
import org.apache.spark.unsafe.Platform

/** Rows with their ranks in a file, written in a sequence and then read in it, once:
  *
  * {{{
  * bytes  0        8        16                  40
  *        | rank 5 | 24     | the row, 24 bytes | rank 7 | ...
  * }}}
  *
  * It takes memory while it is written, and from the first row that is read up to the last: some 100 KB and its
  * largest row. In between and afterwards it takes none.
  *
  * @param writes
  *   how often its rows were written, with this time
  */
final private[spark] class RankedFile(val writes: Int) {
  import RankedFile._
  private val stream = new SpillStream
  // Null but while it is written.
  private var out: OutputStream = _
  // Null but while it is read.
  private var in: DataInputStream = _
  // The row at hand behind its rank and its length.
  private var bytes = Nothing
  private var length = 0
  private var written = 0L
  private var rankOfFirst = Long.MinValue
  private var isDeleted = false

  /** How many rows were written. */
  def rows: Long = written

  /** The rank of the row written first. */
  def firstRank: Long = rankOfFirst

  def write(row: UnsafeRow, rank: Long): Unit = {
    if (written == 0) {
      out = stream.output()
      rankOfFirst = rank
    }
    makeRoom(row.getSizeInBytes)
    Platform.putLong(bytes, Start, rank)
    Platform.putLong(bytes, Start + RankBytes, length.toLong)
    RowBytes.copy(row, bytes, Start + HeadBytes)
    out.write(bytes, 0, HeadBytes + length)
    written += 1
  }

  private def makeRoom(rowBytes: Int): Unit = {
    length = rowBytes
    if (bytes.length < HeadBytes + length) bytes = new Array[Byte](HeadBytes + length)
  }

  /** All is written. */
  def endWrites(): Unit = {
    out.close()
    out = null
    bytes = Nothing
  }

  /** Counts its bytes in the task's own metrics, as Spark's sorts do.
    * @param freed
    *   bytes of memory that hold the rows no longer
    */
  def count(freed: Long): Unit = SpillFolder.count(stream.length, freed)

  /** Goes on to the next row, the first at first, and gives its rank. There must be one. */
  def read(): Long = {
    failIfDeleted()
    if (in == null) in = new DataInputStream(stream.input())
    makeRoom(0)
    in.readFully(bytes, 0, HeadBytes)
    val rank = Platform.getLong(bytes, Start)
    makeRoom(Platform.getLong(bytes, Start + RankBytes).toInt)
    in.readFully(bytes, HeadBytes, length)
    rank
  }

  /** Points `row` at the row that was read last, valid until the next. */
  def point(row: UnsafeRow): Unit = {
    failIfDeleted()
    row.pointTo(bytes, Start + HeadBytes, length)
  }

  private def failIfDeleted(): Unit =
    if (isDeleted) throw new IllegalStateException("A file of sorted rows is read after its end")

  /** No more is read. */
  def endReads(): Unit = {
    JavaUtils.closeQuietly(in)
    in = null
    bytes = Nothing
  }

  /** Whatever state it is in: also one whose writing failed. */
  def delete(): Unit = {
    isDeleted = true
    endReads()
    stream.delete()
  }
}

private[side] object RankedFile {
  private val Nothing = new Array[Byte](0)
  private val Start = Platform.BYTE_ARRAY_OFFSET.toLong
  private val RankBytes = 8
  private val HeadBytes = RankBytes + 8

  /** After so many rows in memory Spark's sorts spill. */
  def mostInMemory: Int = SparkEnv.get.conf
    .getInt("spark.shuffle.spill.numElementsForceSpillThreshold", Int.MaxValue)
}
