// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import scala.util.control.NonFatal

import org.apache.spark.{SparkContext, SparkStatusTracker}

/** How far the jobs of an operation are, twice a second, while they change:
  * {{{
  * {"stages": 3, "stagesDone": 1, "tasks": 208, "tasksDone": 17, "tasksFailed": 0}
  * }}}
  * Stages that Spark has skipped or has not planned yet are not counted, so the sums grow.
  *
  * It is told by a thread of its own: one whose reader does not read waits for it.
  */
final class Progress(context: SparkContext, tag: String, writer: FrameWriter) {
  @volatile private var stopped = false
  private var last = ""

  private val thread = new Thread(() => run(), s"plait-progress-$tag")
  thread.setDaemon(true)
  thread.start()

  def stop(): Unit = {
    stopped = true
    thread.interrupt()
  }

  private def run(): Unit =
    try {
      Thread.sleep(Progress.Period)
      while (!stopped) {
        tell()
        Thread.sleep(Progress.Period)
      }
    } catch { case NonFatal(_) | _: InterruptedException => } // the reader has gone, or all is told

  private def tell(): Unit = {
    val now = Progress.json(context.statusTracker, tag)
    if (now != last) {
      last = now
      writer.write(Frame.Progressed(now))
    }
  }
}

object Progress {
  private val Period = 500L
  private val mapper = Json.mapper

  private val clock: ScheduledExecutorService = Executors.newScheduledThreadPool(
    1,
    { (task: Runnable) =>
      val thread = new Thread(task, "plait-clock")
      thread.setDaemon(true)
      thread
    }
  )

  /** Runs something once, so many milliseconds from now. */
  def later(milliseconds: Long)(run: => Unit): Unit =
    clock.schedule((() => run): Runnable, milliseconds, TimeUnit.MILLISECONDS): Unit

  private def json(tracker: SparkStatusTracker, tag: String): String = {
    val jobs = tracker.getJobIdsForTag(tag).flatMap(tracker.getJobInfo(_))
    val stages = jobs.flatMap(_.stageIds()).distinct.flatMap(tracker.getStageInfo(_))
    mapper
      .createObjectNode()
      .put("stages", stages.size)
      .put("stagesDone", stages.count(stage => stage.numCompletedTasks == stage.numTasks))
      .put("tasks", stages.map(_.numTasks).sum)
      .put("tasksDone", stages.map(_.numCompletedTasks).sum)
      .put("tasksFailed", stages.map(_.numFailedTasks).sum)
      .toString
  }
}
