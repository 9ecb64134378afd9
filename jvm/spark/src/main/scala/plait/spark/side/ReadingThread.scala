// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

/** The thread of a task that reads a join's rows. It alone sends them to a file when it asks for memory: any other of the
  * task, as the one that reads what a script makes of them, would take them away while they are read.
  *
  * {{{
  * main thread      hasNext (fills, reads)                  asks for memory: nothing is spilled
  * writer thread                            next, next, ...
  * }}}
  *
  * Conventions:
  *   1. Who reads says [[begin]] before, each time: that costs a comparison unless it is another than before.
  *   2. Spark lets one thread of a task at a time make room. One that begins waits until the one before is through.
  */
final class ReadingThread {
  @volatile private var thread = Thread.currentThread
  @volatile private var spilling = 0

  def begin(): Unit = if (thread ne Thread.currentThread) takeOver()

  private def takeOver(): Unit = {
    thread = Thread.currentThread
    while (spilling > 0) Thread.`yield`()
  }

  /** @return what `spill` returns, or 0 where another thread reads */
  def unlessAnother(spill: () => Long): Long = {
    // Before it is asked who reads: of two threads that come at once one sees the other.
    spilling += 1
    try if (thread eq Thread.currentThread) spill() else 0L
    finally spilling -= 1
  }
}
