// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import scala.concurrent.duration._
import scala.concurrent.{Await, Future, Promise}
import scala.util.Try

import org.apache.spark.SparkException

import plait.spark.SparkSuite

/** Examples: jobs that begin when what they are for has been cancelled. */
class CancelledJobsSuite extends SparkSuite {

  /** A query with a shuffle, which adaptive execution runs in stages; it would take hours. */
  private def endless(tag: String): Future[Long] = {
    val ended = Promise[Long]()
    // Not of a pool: a thread that one of its threads has started begins with the tags of that one.
    val asking = new Thread(() => ended.complete(Try(counted(tag))): Unit)
    asking.setDaemon(true)
    asking.start()
    ended.future
  }

  private def counted(tag: String): Long = {
    spark.sparkContext.addJobTag(tag)
    spark
      .range(0, 1000000000000L, 1, 2)
      .selectExpr("id % 7 AS k", "hash(id) AS h")
      .groupBy("k")
      .sum("h")
      .count()
  }

  private def end(query: Future[Long]): Throwable = Await.result(query.failed, 20.seconds)

  test("a stage of theirs that begins later ends as it begins") {
    CancelledJobs.cancel(spark.sparkContext, "plait-late")
    val error = end(endless("plait-late"))
    assert(causes(error).exists(_.isInstanceOf[SparkException]), error)
    assertEquals(spark.sparkContext.statusTracker.getActiveJobIds().toSeq, Nil)
  }

  test("those of others go on") {
    CancelledJobs.cancel(spark.sparkContext, "plait-one")
    val other = endless("plait-two")
    Thread.sleep(1500)
    assertEquals(other.value, None)
    CancelledJobs.cancel(spark.sparkContext, "plait-two")
    end(other): Unit
  }

  private def causes(error: Throwable): Seq[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(20).toSeq
}
