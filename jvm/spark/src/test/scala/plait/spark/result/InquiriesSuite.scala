// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util.concurrent.CountDownLatch

import plait.spark.SparkSuite

/** Examples: answers that are not waited for. */
class InquiriesSuite extends SparkSuite {

  /** What an answer throws, and for how many milliseconds it took after `cancel`. */
  private def cancelled(id: String)(answer: => Unit): (Throwable, Long) = {
    @volatile var thrown: Throwable = null
    val thread = new Thread(() =>
      try Inquiries.under(spark.sparkContext, id)(answer)
      catch { case error: Throwable => thrown = error }
    )
    thread.start()
    Thread.sleep(300)
    val began = System.nanoTime
    Inquiries.cancel(id)
    thread.join(10000)
    (thrown, (System.nanoTime - began) / 1000000L)
  }

  private def codeOf(error: Throwable): String = error match {
    case failed: OperationFailed => failed.code
    case other => String.valueOf(other)
  }

  test("the jobs of one that is cancelled end within a second") {
    val context = spark.sparkContext
    val (error, millis) = cancelled("jobs") {
      context.parallelize(1 to 2, 2).foreach(_ => Thread.sleep(60000))
    }
    assertEquals(codeOf(error), "OPERATION_CANCELED")
    assert(millis < 1000, s"$millis ms")
    val end = System.nanoTime + 1000000000L
    def left = context.statusTracker.getActiveJobIds().toSeq
    while (left.nonEmpty && System.nanoTime < end) Thread.sleep(20)
    assertEquals(left, Nil)
  }

  test("so does one that waits") {
    val (error, millis) = cancelled("waits")(new CountDownLatch(1).await())
    assertEquals(codeOf(error), "OPERATION_CANCELED")
    assert(millis < 1000, s"$millis ms")
  }

  test("another one goes on, and the thread is as it was") {
    val context = spark.sparkContext
    assertEquals(Inquiries.under(context, "one") { Inquiries.cancel("two"); 1 }, 1)
    intercept[OperationFailed](Inquiries.under(context, "one") {
      Inquiries.cancel("one")
      Thread.sleep(60000)
    }): Unit
    assert(!Thread.currentThread.isInterrupted)
    assertEquals(context.getJobTags(), Set.empty[String])
    assertEquals(context.getLocalProperty("spark.jobGroup.id"), null)
    Inquiries.cancel("one")
    assert(!Thread.currentThread.isInterrupted)
  }

  test("an answer that has come although it was cancelled is taken back") {
    var back = Seq.empty[Int]
    def asked(answer: => Int) = Inquiries.undone(spark.sparkContext, "late")(answer)(back :+= _)
    val failed = intercept[OperationFailed](asked {
      Inquiries.cancel("late")
      Thread.interrupted(): Unit // somebody on the way has swallowed it
      7
    })
    assertEquals(failed.code, "OPERATION_CANCELED")
    assertEquals(asked(8), 8)
    assertEquals(back, Seq(7))
  }

  test("its own failure is told as it is") {
    val failed = intercept[IllegalStateException] {
      Inquiries.under(spark.sparkContext, "own")(throw new IllegalStateException("own"))
    }
    assertEquals(failed.getMessage, "own")
  }
}
