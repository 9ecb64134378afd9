// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext

/** What is asked of a statement that is not run - what it is, how it would run, to start a stream of it - while it is
  * being answered. The answer may take jobs too: Spark reads files to find their columns.
  *
  * {{{
  * under(context, "0c9...")(validated(...))      in the caller's own thread
  * cancel("0c9...")                              from another: the jobs end, and the failure is `cancelled`
  * }}}
  *
  *   1. Jobs carry the tag `plait-` and the id, as those of an [[Operation]] do.
  *   1. To cancel what is not asked (yet, or any more) does nothing: who means it says so again.
  *   1. The thread is as it was before, when the answer is there: without tag, group and interrupt.
  */
object Inquiries {
  private val asked = new ConcurrentHashMap[String, Inquiry]

  def under[A](context: SparkContext, id: String)(answer: => A): A =
    undone(context, id)(answer)(_ => ())

  /** @param undo
    *   takes back an answer that has come all the same
    */
  def undone[A](context: SparkContext, id: String)(answer: => A)(undo: A => Unit): A = {
    val inquiry = new Inquiry(context, Operation.tagOf(id))
    asked.put(id, inquiry)
    try inquiry.run(answer)(undo)
    finally asked.remove(id, inquiry): Unit
  }

  def cancel(id: String): Unit = Option(asked.get(id)).foreach(_.cancel())
}

final private class Inquiry(context: SparkContext, tag: String) {
  private val thread = Thread.currentThread
  private var isOver = false
  @volatile private var isCancelled = false

  def run[A](answer: => A)(undo: A => Unit): A =
    try {
      context.setJobGroup(tag, "", interruptOnCancel = true)
      context.addJobTag(tag)
      val found = answer
      if (isCancelled) {
        undo(found)
        throw OperationFailed.cancelled
      }
      found
    } catch { case _: Throwable if isCancelled => throw OperationFailed.cancelled }
    finally end()

  def cancel(): Unit = {
    isCancelled = true
    CancelledJobs.cancel(context, tag)
    synchronized(if (!isOver) thread.interrupt())
  }

  private def end(): Unit = {
    synchronized { isOver = true }
    Thread.interrupted(): Unit // it would hit what the thread does next
    context.removeJobTag(tag)
    context.clearJobGroup()
  }
}
