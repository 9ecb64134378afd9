// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util.concurrent.{Executors, ScheduledExecutorService, ScheduledFuture, TimeUnit}

import scala.util.control.NonFatal

import org.apache.spark.{SparkContext, SparkStatusTracker}

/** How far the jobs of an operation are, twice a second, while they change:
  * {{{
  * {"stages": 3, "stagesDone": 1, "tasks": 208, "tasksDone": 17, "tasksFailed": 0}
  * }}}
  * Stages that Spark has skipped or has not planned yet are not counted, so the sums grow.
  */
final class Progress(context: SparkContext, tag: String, writer: FrameWriter) {
  private var last = ""

  private val ticks: ScheduledFuture[_] = Progress.clock.scheduleWithFixedDelay(
    () => tell(),
    Progress.Period,
    Progress.Period,
    TimeUnit.MILLISECONDS
  )

  def stop(): Unit = ticks.cancel(false): Unit

  private def tell(): Unit =
    try {
      val now = Progress.json(context.statusTracker, tag)
      if (now != last) {
        last = now
        writer.write(Frame.Progressed(now))
      }
    } catch { case NonFatal(_) => stop() }
}

object Progress {
  private val Period = 500L
  private val mapper = Json.mapper

  private val clock: ScheduledExecutorService = Executors.newScheduledThreadPool(
    1,
    { (task: Runnable) =>
      val thread = new Thread(task, "plait-progress")
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
