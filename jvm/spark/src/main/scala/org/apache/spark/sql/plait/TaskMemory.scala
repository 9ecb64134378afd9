// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.TaskContext
import org.apache.spark.memory.TaskMemoryManager

/** The memory of the running task. It lives in Spark's package because
  * `TaskContext.taskMemoryManager` is visible only there, and operators of Spark's own take their
  * memory from it in the same way.
  */
object TaskMemory {
  def of(context: TaskContext): TaskMemoryManager = context.taskMemoryManager()

  /** Adds an operator's most memory to what Spark shows for the task. */
  def notePeak(context: TaskContext, bytes: Long): Unit =
    context.taskMetrics().incPeakExecutionMemory(bytes)
}
