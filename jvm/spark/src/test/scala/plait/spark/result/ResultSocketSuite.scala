// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.io.IOException
import java.net.{InetAddress, Socket, SocketTimeoutException}
import java.nio.charset.StandardCharsets.US_ASCII
import java.util.concurrent.Executors

import scala.concurrent.duration.{Duration, SECONDS}
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Try

import munit.FunSuite

/** Examples: who knocks at the door of a result, and who gets in. */
class ResultSocketSuite extends FunSuite {
  private val threads = Executors.newCachedThreadPool()
  implicit private val inThreads: ExecutionContext = ExecutionContext.fromExecutor(threads)

  override def afterAll(): Unit = threads.shutdownNow(): Unit

  private def knock(door: ResultSocket): Socket =
    new Socket(InetAddress.getLoopbackAddress, door.port)

  private def say(caller: Socket, text: String): Unit =
    caller.getOutputStream.write(text.getBytes(US_ASCII))

  private def opened(door: ResultSocket): Future[Socket] = Future(door.accept())

  private def in[A](seconds: Int)(future: Future[A]): A =
    Await.result(future, Duration(seconds.toLong, SECONDS))

  private def isSame(inside: Socket, caller: Socket): Boolean =
    inside.getPort == caller.getLocalPort

  test("the one who knows the secret gets in, after one who does not") {
    val door = new ResultSocket
    val inside = opened(door)
    val wrong = knock(door)
    say(wrong, "0" * door.secret.length)
    assertEquals(Try(wrong.getInputStream.read()).getOrElse(-1), -1) // turned away
    val right = knock(door)
    say(right, door.secret)
    assert(isSame(in(5)(inside), right))
  }

  test("half a secret is none") {
    val door = new ResultSocket
    val inside = opened(door)
    val half = knock(door)
    say(half, door.secret.take(32))
    half.shutdownOutput()
    val right = knock(door)
    say(right, door.secret)
    assert(isSame(in(5)(inside), right))
  }

  test(
    "a second one who knows the secret does not get in, whether it waits already or comes later"
  ) {
    val door = new ResultSocket
    val first = knock(door)
    val second = knock(door)
    say(first, door.secret)
    say(second, door.secret)
    assert(isSame(in(5)(opened(door)), first))
    assertEquals(Try(second.getInputStream.read()).getOrElse(-1), -1)
    intercept[IOException](knock(door))
  }

  test("one who drips the secret does not hold the door") {
    val door = new ResultSocket(patience = 10000, greeting = 300)
    val began = System.nanoTime
    val inside = opened(door)
    val dripping = knock(door)
    val drips = Future {
      door.secret.foreach { digit =>
        say(dripping, digit.toString)
        Thread.sleep(200)
      }
    }
    val right = knock(door)
    say(right, door.secret)
    assert(isSame(in(5)(inside), right))
    val millis = (System.nanoTime - began) / 1000000L
    assert(millis < 3000, s"$millis ms")
    dripping.close()
    assert(Try(in(5)(drips)).isFailure)
  }

  test("many who say nothing leave the one who knows the secret its place in the row") {
    val door = new ResultSocket(patience = 10000, greeting = 50)
    val silent = Seq.fill(20)(knock(door))
    val right = knock(door)
    say(right, door.secret)
    assert(isSame(in(8)(opened(door)), right))
    silent.foreach(_.close())
  }

  test("where nobody comes, the door shuts in time") {
    val door = new ResultSocket(patience = 200, greeting = 100)
    val began = System.nanoTime
    intercept[SocketTimeoutException](door.accept())
    val millis = (System.nanoTime - began) / 1000000L
    assert(millis >= 150 && millis < 2000, s"$millis ms")
    intercept[IOException](knock(door))
  }

  test("where only strangers come, it shuts in time too") {
    val door = new ResultSocket(patience = 400, greeting = 10000)
    val inside = opened(door)
    val silent = knock(door)
    intercept[SocketTimeoutException](in(3)(inside))
    silent.close()
  }
}
