// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.internal.Logging
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

import plait.join.IndexMemory

/** What the index of the rows that a task holds takes of the heap, counted as memory of the task: rows in pages go to
  * disk to make room for it.
  *
  * {{{
  * memory of the task  | index           | pages of rows                | 4 pages free |
  * the index grows     | index ........  | pages of rows | on disk ...  | 4 pages free |
  * }}}
  *
  * Conventions:
  *   1. Spark is asked for some of it at a time, a 16th of all.
  *   2. It leaves as much as it takes to others, up to four of Spark's pages: those of the rows at hand do not go to
  *      disk, and an operator above the join may need one to begin with. Not all four from the start: to ask for them
  *      may drop what is cached.
  *   3. An index for which there is no room stands on the heap all the same, as the rows that it names could not be
  *      joined without it; the log says so.
  *   4. It is on the heap, where pages may lie elsewhere.
  */
final class TaskIndexMemory(memory: TaskMemoryManager)
    extends MemoryConsumer(memory, memory.pageSizeBytes, MemoryMode.ON_HEAP)
    with IndexMemory
    with Logging {
  import TaskIndexMemory._

  private var total = 0L
  // What is counted lies between these until Spark is told again.
  private var least = 0L
  private var most = 0L
  private var isWarned = false

  /** What the index takes, whether Spark has granted it or not. */
  def size: Long = total

  /** Could so much be had now, with what is asked for ahead and four pages beside it? */
  def hasRoomFor(bytes: Long): Boolean = hasRoom(bytes, 4 * memory.pageSizeBytes)

  /** The same of what is given back soon: it leaves to others no more than what is left to them anyway. */
  def hasRoomForNow(bytes: Long): Boolean = hasRoom(bytes, leftTo(bytes))

  private def hasRoom(bytes: Long, others: Long): Boolean = {
    val wanted = bytes + stepOf(bytes) + others
    val granted = acquireMemory(wanted)
    freeMemory(granted)
    granted == wanted
  }

  override def add(bytes: Long): Unit = {
    total += bytes
    if (total > most) ask() else if (total < least) giveBack()
  }

  private def ask(): Unit = {
    val wanted = total + step - getUsed
    val others = leftTo(total)
    val granted = acquireMemory(wanted + others)
    if (granted == wanted + others) {
      freeMemory(others)
      settle()
    } else {
      freeMemory(granted)
      warn()
      // To ask again at once would send all rows to disk for nothing.
      most = total + total / 4 + Step
    }
  }

  private def giveBack(): Unit = {
    if (getUsed > total + step) freeMemory(getUsed - total - step)
    settle()
  }

  private def settle(): Unit = {
    most = getUsed
    least = total / 2 - Step
  }

  private def leftTo(bytes: Long): Long =
    math.min(4 * memory.pageSizeBytes, math.max(4 * Step, bytes))

  private def step: Long = stepOf(total)
  private def stepOf(bytes: Long): Long = math.max(Step, bytes / 16)

  private def warn(): Unit = if (!isWarned) {
    isWarned = true
    logWarning(
      s"The index of the rows that a join holds takes $total bytes, and Spark has granted the task $getUsed for it. " +
        "The rest is on the heap uncounted: more partitions, or more memory a task, would give it room."
    )
  }

  /** All that it names is gone. */
  def clear(): Unit = {
    freeMemory(getUsed)
    total = 0
    settle()
  }

  /** It cannot go to disk. */
  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
}

object TaskIndexMemory {
  private val Step = 64L * 1024
}
