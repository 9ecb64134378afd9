// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.executor.ShuffleWriteMetrics
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.util.collection.unsafe.sort.{
  UnsafeSorterSpillReader,
  UnsafeSorterSpillWriter
}
import org.apache.spark.{SparkEnv, TaskContext}

/** Rows with their ranks in a file of Spark's, written in a sequence and read in it: compressed and encrypted
  * as Spark is told to.
  *
  * It stands in this package because Spark's block manager and task counters do not show outside of it.
  *
  * @param rows
  *   how many will be written
  */
final class RankedFile(rows: Int) {
  private val metrics = new ShuffleWriteMetrics
  // Null once all is written: it holds a buffer of a MB.
  private var writer =
    new UnsafeSorterSpillWriter(SparkEnv.get.blockManager, RankedFile.BufferBytes, metrics, rows)
  private val file = writer.getFile

  def write(row: UnsafeRow, rank: Long): Unit =
    writer.write(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, rank)

  /** All is written. */
  def close(): Unit = writer.close()

  /** What was written; counted in the task's own metrics, as Spark's sorts do.
    * @param freed
    *   bytes of memory that hold it no longer
    */
  def read(freed: Long): UnsafeSorterSpillReader = {
    Option(TaskContext.get()).foreach { context =>
      context.taskMetrics().incDiskBytesSpilled(metrics.bytesWritten)
      context.taskMetrics().incMemoryBytesSpilled(freed)
    }
    val reader = writer.getReader(SparkEnv.get.serializerManager)
    writer = null
    reader
  }

  def delete(): Unit = {
    val _ = file.delete()
  }
}

object RankedFile {
  private val BufferBytes = 32 * 1024

  /** After so many rows in memory Spark's sorts spill. */
  def mostInMemory: Int = SparkEnv.get.conf
    .getInt("spark.shuffle.spill.numElementsForceSpillThreshold", Int.MaxValue)
}
