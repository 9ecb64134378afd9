// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.QueryExecution

/** The operations that run in this JVM, by id. */
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
    val operation = new Operation(request, session, socket, query, counters)
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
}
