// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.rdd.InputFileBlockHolder
import org.apache.spark.unsafe.types.UTF8String

/** The file, and the place in it, that an input of a task has open, which Spark tells to its own package alone: the same
  * as `input_file_name()` and `input_file_block_start()`. No file has an empty name.
  */
final class InputFile {
  private var path: UTF8String = _
  private var start = 0L
  private var length = 0L
  private var name: String = _

  /** Has it been told yet? */
  def isKnown: Boolean = path != null

  /** The task is reading this one, until a scan moves on. */
  def resume(): Unit = if (isKnown && !isRead) {
    if (name == null) name = path.toString
    InputFileBlockHolder.set(name, start, length)
    // To be the same object is seen at once.
    path = InputFileBlockHolder.getInputFilePath
  }

  /** It is the one that the task is reading. */
  def become(): Unit = {
    path = InputFileBlockHolder.getInputFilePath
    val isFile = path.numBytes > 0
    start = if (isFile) InputFileBlockHolder.getStartOffset else 0
    length = if (isFile) InputFileBlockHolder.getLength else 0
    name = null
  }

  /** Is it the one that the task is reading? */
  def isRead: Boolean = isKnown && {
    val now = InputFileBlockHolder.getInputFilePath
    ((now eq path) || now == path) &&
    (now.numBytes == 0 || InputFileBlockHolder.getStartOffset == start)
  }
}
