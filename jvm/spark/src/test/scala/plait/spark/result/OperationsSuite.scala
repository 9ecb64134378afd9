// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.io.DataInputStream
import java.net.{InetAddress, Socket}
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS

import org.apache.spark.sql.classic.{DataFrame, SparkSession}

import plait.spark.SparkSuite

/** Examples: operations that have been cancelled, and whose threads hear nothing of it. */
class OperationsSuite extends SparkSuite {
  private lazy val session = spark.asInstanceOf[SparkSession]

  private def request(id: String, patience: Long): OperationRequest = OperationRequest.parse(
    s"""{"operation": "$id", "sql": "SELECT 1", "batchBytes": 1024, "maxRows": 0, "maxBytes": 0, "stack": false,
       | "running": 1, "patience": $patience}""".stripMargin
  )

  private def started(id: String, patience: Long)(query: => DataFrame): Socket = {
    val door = Operations.start(request(id, patience), session, _ => query, _ => "[]")
    val reader = new Socket(InetAddress.getLoopbackAddress, door.port)
    reader.getOutputStream.write(door.secret.getBytes(US_ASCII))
    reader
  }

  /** The last frame. */
  private def end(reader: Socket): (Char, String) = {
    val in = new DataInputStream(reader.getInputStream)
    Iterator
      .continually {
        val kind = in.readByte().toChar
        kind -> new String(in.readNBytes(in.readInt()), UTF_8)
      }
      .find { case (kind, _) => kind == 'E' || kind == 'F' }
      .get
  }

  private def deaf(begun: CountDownLatch, go: CountDownLatch): DataFrame = {
    begun.countDown()
    while (go.getCount > 0) Thread.onSpinWait()
    session.range(1).toDF()
  }

  test("one that is cancelled and goes on keeps its place: the next one waits until it has ended") {
    val (begun, go) = (new CountDownLatch(1), new CountDownLatch(1))
    val first = started("deaf", 60000)(deaf(begun, go))
    assert(begun.await(30, SECONDS))
    Operations.cancel("deaf")
    assertEquals(Operations.lingering, 1)

    @volatile var ran = false
    val second = started("next", 60000) { ran = true; session.range(1).toDF() }
    val third = started("impatient", 200)(session.range(1).toDF())
    val (kind, told) = end(third)
    assertEquals(kind, 'F')
    assert(told.contains("QUEUE_TIMEOUT") && told.contains("\"limit\""), told)
    assert(!ran)

    go.countDown()
    assertEquals(end(first)._1, 'F')
    assertEquals(end(second)._1, 'E')
    assert(ran)
    assertEquals(Operations.lingering, 0)
  }

  test("one that waits for its place can be cancelled") {
    val (begun, go) = (new CountDownLatch(1), new CountDownLatch(1))
    val first = started("deaf", 60000)(deaf(begun, go))
    assert(begun.await(30, SECONDS))
    Operations.cancel("deaf")
    val second = started("waiting", 60000)(session.range(1).toDF())
    Thread.sleep(100)
    Operations.cancel("waiting")
    assert(end(second)._2.contains("OPERATION_CANCELED"))
    go.countDown()
    assertEquals(end(first)._1, 'F')
  }

  test("one that runs and was not cancelled holds up no other here") {
    val (begun, go) = (new CountDownLatch(1), new CountDownLatch(1))
    val first = started("slow", 60000)(deaf(begun, go))
    assert(begun.await(30, SECONDS))
    assertEquals(end(started("quick", 0)(session.range(1).toDF()))._1, 'E')
    go.countDown()
    assertEquals(end(first)._1, 'E')
  }
}
