// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.AtomicInteger

import munit.FunSuite

/** Examples: who waits for whom. */
class NameLocksSuite extends FunSuite {

  private def thread(body: => Unit): Thread = {
    val made = new Thread(() => body)
    made.setDaemon(true)
    made.start()
    made
  }

  /** A thread that has a name until the latch is opened. */
  private def holding(locks: NameLocks, name: String): CountDownLatch = {
    val (inside, go) = (new CountDownLatch(1), new CountDownLatch(1))
    thread(locks.alone(name) {
      inside.countDown()
      go.await()
    }): Unit
    assert(inside.await(5, SECONDS))
    go
  }

  test("another name does not wait") {
    val locks = new NameLocks
    val go = holding(locks, "a")
    val done = new CountDownLatch(1)
    thread(locks.alone("b")(done.countDown())): Unit
    assert(done.await(5, SECONDS))
    go.countDown()
  }

  test("the same name waits for its turn") {
    val locks = new NameLocks
    val (most, now) = (new AtomicInteger, new AtomicInteger)
    val threads = Seq.fill(8)(thread {
      for (_ <- 1 to 50) locks.alone("a") {
        most.accumulateAndGet(now.incrementAndGet(), math.max): Unit
        Thread.`yield`()
        now.decrementAndGet(): Unit
      }
    })
    threads.foreach(_.join())
    assertEquals(most.get, 1)
    assertEquals(locks.size, 0)
  }

  test("who waits can be interrupted, and has done nothing") {
    val locks = new NameLocks
    val go = holding(locks, "a")
    @volatile var ran, interrupted = false
    val waiting = thread {
      try locks.alone("a") { ran = true }
      catch { case _: InterruptedException => interrupted = true }
    }
    waiting.interrupt()
    waiting.join(5000)
    assert(interrupted && !ran)
    assertEquals(locks.size, 1)
    go.countDown()
  }

  test("the same thread may take a name again, and an error gives it back") {
    val locks = new NameLocks
    assertEquals(locks.alone("a")(locks.alone("a")(1)), 1)
    intercept[IllegalStateException](locks.alone("a")(throw new IllegalStateException)): Unit
    assertEquals(locks.size, 0)
  }
}
