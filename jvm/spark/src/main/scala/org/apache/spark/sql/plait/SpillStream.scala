// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import java.io.{
  BufferedInputStream,
  BufferedOutputStream,
  Closeable,
  FileInputStream,
  FileOutputStream,
  InputStream,
  OutputStream
}

import org.apache.spark.SparkEnv
import org.apache.spark.network.util.JavaUtils

/** A file in Spark's local folders that is written from front to end and then read so, compressed
  * (`spark.shuffle.spill.compress`) and encrypted (`spark.io.encryption.enabled`) as Spark is told to.
  *
  * It stands in this package because Spark's streams do not show outside of it. Spark's own reader of such files is
  * not used: it takes 3 MB of heap when it is open, and of that 1 MB until the task is over.
  */
final class SpillStream {
  import SpillStream.Buffer
  private val (id, file) = SparkEnv.get.blockManager.diskBlockManager.createTempLocalBlock()
  // The file itself, below what compresses and encrypts: those that fail when they are closed leave it open.
  private var raw: Closeable = _
  private def streams = SparkEnv.get.serializerManager

  /** To be closed when all is written. Takes some 100 KB up to then. */
  def output(): OutputStream = {
    val out = new FileOutputStream(file)
    raw = out
    streams.wrapStream(id, new BufferedOutputStream(out, Buffer))
  }

  /** What was written, from the front. Takes some 100 KB until it is closed. */
  def input(): InputStream = {
    val in = new FileInputStream(file)
    raw = in
    streams.wrapStream(id, new BufferedInputStream(in, Buffer))
  }

  /** Bytes on disk. */
  def length: Long = file.length

  /** Also where writing or reading has failed. */
  def delete(): Unit = {
    JavaUtils.closeQuietly(raw)
    val _ = file.delete()
  }
}

object SpillStream {
  private val Buffer = 32 * 1024
}
