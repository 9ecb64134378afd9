// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.TaskContext

/** Whether the running task is to end, for what goes on without a row, as a test of pairs of which none matches: asks after
  * each 1,024 rows. Iterators of Spark's ask so once a row; it shows in Spark's package only.
  *
  * {{{
  * saw(1000)   saw(23)   saw(1): asks
  * }}}
  *
  * A class of its own, for it is told of each row: that is an addition and a comparison.
  */
final class TaskWatch(ask: () => Unit) {
  private var seen = 0

  /** Throws if the task was killed. */
  def saw(rows: Int): Unit = {
    seen += rows
    if (seen >= TaskWatch.Between) {
      seen = 0
      ask()
    }
  }
}

object TaskWatch {
  final private val Between = 1024

  /** Where the task cannot be stopped. */
  def never: TaskWatch = new TaskWatch(() => ())

  def of(context: TaskContext): TaskWatch =
    new TaskWatch(() => context.killTaskIfInterrupted())
}
