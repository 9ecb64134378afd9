// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.TaskContext

/** What is to be done once when a join of a task ends: after its last row, or with the task if that comes first.
  *
  * {{{
  * coalesce(1) over 200 joined partitions      one task, 200 joins one after the other, each over before the next
  * }}}
  *
  * It does not keep what it has done: a task holds its listeners to its end.
  */
final private[spark] class JoinEnding {
  private var undone: () => Unit = JoinEnding.Nothing

  def is(work: () => Unit): Unit = undone = work

  def run(): Unit = {
    val work = undone
    undone = JoinEnding.Nothing
    work()
  }
}

private[spark] object JoinEnding {
  private val Nothing = () => ()

  def of(task: TaskContext): JoinEnding = {
    val ending = new JoinEnding
    task.addTaskCompletionListener[Unit](_ => ending.run())
    ending
  }
}
