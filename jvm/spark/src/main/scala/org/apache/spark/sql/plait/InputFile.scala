// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.rdd.InputFileBlockHolder
import org.apache.spark.unsafe.types.UTF8String

/** The file, and the place in it, that a task is reading, which Spark tells to its own package alone:
  * the same as `input_file_name()` and `input_file_block_start()`. No file has an empty name.
  */
object InputFile {
  def path: UTF8String = InputFileBlockHolder.getInputFilePath
  def start: Long = InputFileBlockHolder.getStartOffset
}
