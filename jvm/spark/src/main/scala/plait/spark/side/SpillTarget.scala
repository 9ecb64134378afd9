// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.io.File

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.SpillFolder

/** Where rows go that do not fit in memory. */
trait SpillTarget {

  /** A file to write to, or None where nothing may be spilled. */
  def newFile(): Option[File]

  /** So many bytes were written. */
  def count(bytes: Long): Unit
}

object SpillTarget {

  /** Spark's local folders, counted in a metric of the node and in those of the task. Where Spark
    * encrypts its files nothing is spilled: what is encrypted cannot be read from the middle.
    */
  final class LocalFolder(size: SQLMetric) extends SpillTarget {
    override def newFile(): Option[File] =
      if (SpillFolder.isEncrypted) None else Some(SpillFolder.newFile())

    override def count(bytes: Long): Unit = {
      size += bytes
      SpillFolder.count(bytes)
    }
  }
}
