// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import java.io.File

import org.apache.spark.{SparkEnv, TaskContext}

/** Where a task of Spark's puts what does not fit in memory.
  *
  * It stands in this package because Spark's disk manager and task counters do not show outside of it.
  */
object SpillFolder {

  /** A new file in Spark's local folders (`spark.local.dir`), which go when the application ends. */
  def newFile(): File = SparkEnv.get.blockManager.diskBlockManager.createTempLocalBlock()._2

  /** What Spark encrypts its files by (`spark.io.encryption.enabled`), or None where it does not. */
  def encryptionKey: Option[Array[Byte]] = SparkEnv.get.securityManager.getIOEncryptionKey()

  /** Counts in the task's own metrics, as Spark's sorts do.
    * @param written
    *   bytes in the file
    * @param freed
    *   bytes of memory that hold them no longer
    */
  def count(written: Long, freed: Long): Unit = Option(TaskContext.get()).foreach { context =>
    context.taskMetrics().incDiskBytesSpilled(written)
    context.taskMetrics().incMemoryBytesSpilled(freed)
  }
}
