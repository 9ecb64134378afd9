// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.SpillFolder

/** Where rows go that do not fit in memory. */
trait SpillTarget {

  /** An empty file to write to. */
  def newFile(): SpillFile

  /** So many bytes were written. */
  def count(bytes: Long): Unit
}

object SpillTarget {

  /** Spark's local folders, counted in a metric of the node and in those of the task. Where Spark
    * encrypts its files, these are too.
    */
  final class LocalFolder(size: SQLMetric) extends SpillTarget {
    override def newFile(): SpillFile =
      new SpillFile(SpillFolder.newFile(), SpillFolder.encryptionKey.map(new SpillSeal(_)))

    override def count(bytes: Long): Unit = {
      size += bytes
      SpillFolder.count(bytes, bytes)
    }
  }
}
