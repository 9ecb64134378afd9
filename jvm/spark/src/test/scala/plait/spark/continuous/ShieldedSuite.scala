// SPDX-License-Identifier: Apache-2.0
// Examples: what an interrupt does to what must not stay half done.
package plait.spark.continuous

import java.util.concurrent.CountDownLatch

class ShieldedSuite extends munit.FunSuite {
  test("it runs to its end though its caller is interrupted, who is so afterwards") {
    val begun = new CountDownLatch(1)
    @volatile var answer, wasInterrupted = false
    val caller = new Thread(() => {
      answer = Shielded {
        begun.countDown()
        Thread.sleep(300)
        true
      }
      wasInterrupted = Thread.interrupted()
    })
    caller.start()
    begun.await()
    for (_ <- 1 to 3) {
      caller.interrupt()
      Thread.sleep(20)
    }
    caller.join(10000)
    assert(answer)
    assert(wasInterrupted)
  }

  test("a caller who was interrupted before is not kept from it, and stays interrupted") {
    Thread.currentThread.interrupt()
    val found = Shielded(!Thread.currentThread.isInterrupted)
    assert(Thread.interrupted(), "the interrupt is lost")
    assert(found, "it runs interrupted")
  }

  test("its error is the caller's, without a wrapping") {
    val error = intercept[IllegalStateException](Shielded(throw new IllegalStateException("own")))
    assertEquals(error.getMessage, "own")
  }
}
