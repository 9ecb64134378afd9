// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.QueryExecution

/** The operations that run in this JVM, by id.
  *
  * Python gives the place of an operation that was stopped to the next one at once. Its thread here may go on, because
  * parts of Spark's planning hear no interrupt: such a one *lingers*. So that a client cannot fill the machine with
  * them, an operation begins only while fewer linger than may run (`running`), and fails if it has waited for
  * `patience`. Threads that work are at most twice as many as operations may run.
  */
object Operations {
  private val running = new ConcurrentHashMap[String, Operation]

  /** Starts an operation in a thread of its own; its frames are read through the returned socket. */
  def start(
      request: OperationRequest,
      session: SparkSession,
      query: OperationRequest => DataFrame,
      counters: QueryExecution => String
  ): ResultSocket = {
    val socket = new ResultSocket
    def inTurn(request: OperationRequest): DataFrame = {
      awaitTurn(request)
      query(request)
    }
    val operation = new Operation(request, session, socket, inTurn, counters)
    val run: Runnable = () =>
      try operation.run()
      finally running.remove(request.operation, operation): Unit
    val thread = new Thread(run, s"plait-operation-${request.operation}")
    thread.setDaemon(true)
    running.put(request.operation, operation)
    thread.start()
    socket
  }

  /** Ends an operation; nothing happens if it runs no more. */
  def cancel(operation: String): Unit = Option(running.get(operation)).foreach(_.cancel())

  def count: Int = running.size

  /** How many have been cancelled, and have not ended. */
  def lingering: Int = running.values.asScala.count(_.isCancelled)

  private def awaitTurn(request: OperationRequest): Unit = {
    val end = System.nanoTime + request.patience * 1000000L
    while (request.running > 0 && lingering >= request.running) {
      if (System.nanoTime >= end)
        throw new OperationFailed(
          "limit",
          "QUEUE_TIMEOUT",
          s"$lingering operations have been cancelled and are still being planned, which Spark does not break off; " +
            "the server begins no other until one has ended. Try again later.",
          None
        )
      Thread.sleep(Tick)
    }
  }

  /** Milliseconds between two looks. */
  private val Tick = 20L
}
