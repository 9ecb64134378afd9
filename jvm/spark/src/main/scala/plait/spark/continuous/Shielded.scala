// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.util.concurrent.{ExecutionException, FutureTask}

/** What must not stay half done, though its caller is cancelled meanwhile: runs to its end in a thread of its own, and
  * the caller, who waits for it, is interrupted afterwards.
  *
  * {{{
  * Shielded(folder.write(tables))      an interrupt would close the file in the middle of a line
  * }}}
  *
  * A lock that the caller holds is not held by what runs.
  */
private[continuous] object Shielded {
  def apply[A](body: => A): A = {
    val task = new FutureTask[A](() => body)
    val thread = new Thread(task, "plait-shielded")
    thread.setDaemon(true)
    thread.start()
    var interrupted = false
    while (!task.isDone)
      try task.get(): Unit
      catch {
        case _: InterruptedException => interrupted = true
        case _: ExecutionException => // told below
      }
    if (interrupted) Thread.currentThread.interrupt()
    // Once it is done, it is got without waiting, and so without being interrupted.
    try task.get()
    catch { case error: ExecutionException => throw error.getCause }
  }
}
