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
    var calls = 0
    () => {
      calls += 1
      if ((calls & Between) == 0) throwIfKilled(context)
    }
  }

  /** All bits of how many calls do not ask. */
  final private val Between = 1023
}
