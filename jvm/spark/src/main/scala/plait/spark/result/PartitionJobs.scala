// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.SimpleFutureAction
import org.apache.spark.sql.plait.{ArrowBatch, ArrowPartitions, PartitionBatches}

/** Runs a result's partitions in jobs of a few, and gives their batches in the order of partitions.
  *
  * With 9 partitions on two cores the jobs are 0-1, then 2-8 if the first gave little, else 2-3, 4-5 and
  * so on. While the batches of one job are handed out the next one runs, and no other: a reader
  * who stands still holds [[PartitionJobs.Budget]] bytes in the driver, twice; what a partition
  * gives beyond its share waits on the disks of the executors (see [[PartitionBatches]]).
  *
  * It must be used by one thread, the one whose job tags the jobs are to carry.
  */
final class PartitionJobs(partitions: ArrowPartitions) {
  import PartitionJobs._

  private val count = partitions.count
  private var submitted = 0
  private var started: Seq[Job] = Nil
  private var size = math.max(1, math.min(partitions.parallelism, Most))

  /** Hands every batch to `write`, which may throw to end it all. */
  def foreach(write: ArrowBatch => Unit): Unit = {
    var current = next()
    // Invariant: all batches of the partitions before `current` have been handed out, and of
    // those after it at most one job has been submitted.
    while (current.isDefined) {
      val job = current.get
      var ahead: Option[Job] = None
      def look(): Unit = if (ahead.isEmpty && job.isCompleted) ahead = next()
      job.range.foreach { partition =>
        val held = job.await(partition)
        look()
        held.foreach { batch =>
          write(batch)
          look()
        }
      }
      job.finish()
      current = if (ahead.isEmpty) next() else ahead
    }
  }

  /** Ends the jobs that still run; to be called when `foreach` has thrown. */
  def cancel(): Unit = started.foreach(_.cancel())

  private def next(): Option[Job] =
    if (submitted == count) None
    else {
      val range = submitted until math.min(count, submitted + size)
      submitted = range.end
      started = started.filterNot(_.isCompleted) :+ new Job(range)
      started.lastOption
    }

  final private class Job(val range: Range) {
    private val arrived = new ConcurrentHashMap[Int, PartitionBatches]
    private val bytes = new AtomicLong

    private val future: SimpleFutureAction[Unit] =
      partitions.submit(range, Budget / range.size) { (index, batches) =>
        bytes.addAndGet(batches.bytes)
        arrived.put(range(index), batches)
        signal()
      }
    future.onComplete(_ => signal())(scala.concurrent.ExecutionContext.parasitic)

    def isCompleted: Boolean = future.isCompleted

    def cancel(): Unit = future.cancel()

    /** The batches of one partition, as soon as its task is done; the job's error if it failed. */
    def await(partition: Int): PartitionBatches = synchronized {
      while (!arrived.containsKey(partition) && !future.isCompleted) wait()
      if (!arrived.containsKey(partition)) finish()
      arrived.remove(partition)
    }

    /** Waits for the job's end, and lets the next be larger if this one gave little. */
    def finish(): Unit = {
      Await.result(future, Duration.Inf)
      if (bytes.get < Budget / Growth) size = math.min(Most, size * Growth)
    }

    private def signal(): Unit = synchronized(notifyAll())
  }
}

object PartitionJobs {

  /** Bytes of batches that a job brings to the driver at most, one batch a partition aside. */
  val Budget: Long = 32L << 20

  /** Partitions of a job at most: each may bring a batch. */
  private val Most = 256
  private val Growth = 4
}
