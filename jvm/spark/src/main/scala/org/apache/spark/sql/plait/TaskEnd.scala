// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.TaskContext

/** Whether the running task is to end. Iterators of Spark's ask so once a row; it shows in Spark's package
  * only.
  */
object TaskEnd {
  def throwIfKilled(context: TaskContext): Unit = context.killTaskIfInterrupted()

  /** The same for what goes on without a row: each 1,024th call of what it gives asks. */
  def nowAndThen(context: TaskContext): () => Unit = {
    val after = afterRows(context)
    () => after(1)
  }

  /** The same for what looks at many rows at once: it is told how many, and asks after each 1,024. */
  def afterRows(context: TaskContext): Int => Unit = {
    var looked = 0
    rows => {
      looked += rows
      if (looked >= Between) {
        looked = 0
        throwIfKilled(context)
      }
    }
  }

  final private val Between = 1024
}
