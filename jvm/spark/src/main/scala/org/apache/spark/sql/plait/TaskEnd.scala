// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.TaskContext

/** Whether the running task is to end. Iterators of Spark's ask so once a row; it shows in Spark's package
  * only.
  */
object TaskEnd {
  def throwIfKilled(context: TaskContext): Unit = context.killTaskIfInterrupted()
}
