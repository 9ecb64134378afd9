// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.plait.AnalysedQuery

import plait.spark.result.{Failure, OperationRequest, Operations, StackTrace}

/** The JVM's side of the endpoint: runs a statement and streams its rows to the Python process beside it,
  * and tells of statements and tables without running anything.
  *
  * `start` takes the JSON of [[OperationRequest]] and answers `port secret`: whoever connects to
  * that port of the loopback interface and sends the secret reads the frames of the result. The others
  * answer `{"answer": ...}`, or `{"failure": ...}` with the JSON of [[plait.spark.result.Failure]].
  */
object PlaitRemote {
  private val mapper = new ObjectMapper()

  def start(session: SparkSession, json: String): String = {
    val socket = Operations.start(
      OperationRequest.parse(json),
      session,
      request => AnalysedQuery.dataFrame(session, RemoteStatement.admitted(session, request)),
      PlaitReport.counters
    )
    s"${socket.port} ${socket.secret}"
  }

  def cancel(operation: String): Unit = Operations.cancel(operation)

  /** How many operations run. */
  def running(): Int = Operations.count

  /** What a statement is; see [[RemoteStatement.validated]]. */
  def validate(session: SparkSession, json: String): String = {
    val request = OperationRequest.parse(json)
    answered(request.stack)(RemoteStatement.validated(session, request))
  }

  /** How a statement would run; see [[RemoteStatement.explained]]. */
  def explain(session: SparkSession, json: String): String = {
    val request = OperationRequest.parse(json)
    answered(request.stack)(RemoteStatement.explained(session, request))
  }

  /** Tables and columns; see [[CatalogListing]]. */
  def catalog(session: SparkSession, json: String): String =
    answered(StackTrace.Kept)(
      new CatalogListing(session).page(new CatalogRequest(mapper.readTree(json)))
    )

  private def answered(stack: StackTrace)(answer: => JsonNode): String = {
    val root = mapper.createObjectNode()
    def failed(error: Throwable): Unit =
      root.set[JsonNode]("failure", mapper.readTree(Failure.json(error, stack))): Unit
    try root.set[JsonNode]("answer", answer): Unit
    catch {
      case NonFatal(error) => failed(error)
      case error: LinkageError => failed(error)
      case error: StackOverflowError => failed(error)
    }
    root.toString
  }
}
