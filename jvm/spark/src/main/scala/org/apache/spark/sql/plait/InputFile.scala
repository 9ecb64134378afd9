// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.rdd.InputFileBlockHolder
import org.apache.spark.unsafe.types.UTF8String

/** The file, and the place in it, that a task is reading, which Spark tells to its own package alone:
  * the same as `input_file_name()` and `input_file_block_start()`. No file has an empty name.
  */
final case class InputFile(path: UTF8String, start: Long, length: Long) {

  /** The task is reading this one, until a scan moves on. */
  def resume(): Unit =
    if (!InputFile.is(this)) InputFileBlockHolder.set(path.toString, start, length)
}

object InputFile {
  def now: InputFile = {
    val path = InputFileBlockHolder.getInputFilePath
    if (path.numBytes == 0) None
    else InputFile(path, InputFileBlockHolder.getStartOffset, InputFileBlockHolder.getLength)
  }

  /** Is it the one that the task is reading? */
  def is(file: InputFile): Boolean = {
    val path = InputFileBlockHolder.getInputFilePath
    ((path eq file.path) || path == file.path) &&
    (path.numBytes == 0 || InputFileBlockHolder.getStartOffset == file.start)
  }

  private val None = InputFile(UTF8String.EMPTY_UTF8, 0, 0)
}
