// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.plait.JobListening

/** The jobs of what has been cancelled: those that run, and those that begin later.
  *
  * {{{
  * cancel(context, "plait-0c9...")            jobs 7 and 8 of that tag end
  *                          20 ms later       job 9 of that tag begins, and ends
  * }}}
  *
  * Adaptive execution submits stages in threads of its own, which may do so when the thread of their statement was
  * interrupted and has ended. Spark refuses the later jobs of a cancelled group, but not such stages: its scheduler looks
  * at the group of a job with a result only. So each job that starts is looked at here.
  *
  * It promises nothing of a tag after which [[CancelledJobs.Remembered]] others were cancelled.
  */
object CancelledJobs {
  private val heard = mutable.WeakHashMap.empty[SparkContext, Starts]

  /** Tags, of which each is used once. */
  val Remembered = 10000

  def cancel(context: SparkContext, tag: String): Unit = if (!context.isStopped) {
    starts(context).remember(
      tag
    ) // first: a job is either seen to start from now on, or runs already
    context.cancelJobsWithTag(tag)
    context.cancelJobGroupAndFutureJobs(tag)
  }

  private def starts(context: SparkContext): Starts = synchronized {
    heard.getOrElseUpdate(
      context, {
        val made = new Starts(new java.lang.ref.WeakReference(context))
        JobListening.add(context, made)
        made
      }
    )
  }

  final private class Starts(context: java.lang.ref.WeakReference[SparkContext])
      extends SparkListener {
    private val cancelled = new util.LinkedHashSet[String]

    def remember(tag: String): Unit = synchronized {
      cancelled.add(tag): Unit
      if (cancelled.size > Remembered) cancelled.remove(cancelled.iterator.next()): Unit
    }

    private def isCancelled(tag: String): Boolean = synchronized(cancelled.contains(tag))

    override def onJobStart(start: SparkListenerJobStart): Unit =
      if (JobListening.tags(start).exists(isCancelled))
        Option(context.get).filterNot(_.isStopped).foreach(_.cancelJob(start.jobId))
  }
}
