// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.classic.SparkSession

import plait.spark.continuous.{ContinuousTables, StreamRequest, StreamStart, Streams}
import plait.spark.result.{
  Failure,
  Inquiries,
  Json,
  OperationFailed,
  OperationRequest,
  Operations,
  StackTrace
}

/** The JVM's side of the endpoint: runs a statement and streams its rows to the Python process beside it,
  * keeps the streams of clients, and tells of statements and tables without running anything.
  *
  * `start` takes the JSON of [[OperationRequest]] and answers `port secret`: whoever connects to
  * that port of the loopback interface and sends the secret reads the frames of the result. The others
  * answer `{"answer": ...}`, or `{"failure": ...}` with the JSON of [[plait.spark.result.Failure]].
  */
object PlaitRemote {
  private val mapper = Json.mapper

  def start(session: SparkSession, json: String): String = {
    val socket = Operations.start(
      OperationRequest.parse(json),
      session,
      RemoteStatement.answered(session, _),
      PlaitReport.counters
    )
    s"${socket.port} ${socket.secret}"
  }

  def cancel(operation: String): Unit = Operations.cancel(operation)

  /** Ends what `validate`, `explain` or `startStream` does for the request of that operation, if it does. */
  def cancelInquiry(operation: String): Unit = Inquiries.cancel(operation)

  /** How many operations run. */
  def running(): Int = Operations.count

  /** How many streams run. */
  def runningStreams(): Int = Streams.running

  /** What a statement is; see [[RemoteStatement.validated]]. */
  def validate(session: SparkSession, json: String): String = {
    val request = OperationRequest.parse(json)
    asked(session, request)(RemoteStatement.validated(session, request))
  }

  /** How a statement would run; see [[RemoteStatement.explained]]. */
  def explain(session: SparkSession, json: String): String = {
    val request = OperationRequest.parse(json)
    asked(session, request)(RemoteStatement.explained(session, request))
  }

  /** Tables and columns; see [[CatalogListing]]. */
  def catalog(session: SparkSession, json: String): String =
    answered(StackTrace.Kept, "") {
      val request = new CatalogRequest(mapper.readTree(json))
      Inquiries.under(session.sparkContext, request.operation)(
        new CatalogListing(session).page(request)
      )
    }

  /** Starts a stream, and tells of it as [[plait.spark.continuous.RunningStream.told]] does. */
  def startStream(session: SparkSession, json: String): String = {
    val request = StreamRequest.parse(json)
    answered(request.statement.stack, request.statement.sql) {
      val start = new StreamStart(session, request)
      Inquiries
        .undone(session.sparkContext, request.statement.operation)(start.run())(start.undo)
        .told
    }
  }

  /** `{"streams": [...]}` of an owner, the newest first. */
  def streams(owner: String): String = answered(StackTrace.Kept, "") {
    val root = mapper.createObjectNode()
    val list = root.putArray("streams")
    Streams.of(owner).foreach(stream => list.add(stream.told))
    root
  }

  /** Records of a stream's progress after that of a number; waits so many milliseconds for one. */
  def streamNews(owner: String, name: String, after: Long, millis: Long): String =
    answered(StackTrace.Kept, "")(Streams.find(owner, name).news(after, millis))

  /** Ends a stream. */
  def stopStream(owner: String, name: String): String = answered(StackTrace.Kept, "") {
    val stream = Streams.find(owner, name)
    ContinuousTables.refuseToStop(stream)
    Streams.stop(stream)
    stream.told
  }

  /** Takes streams from now on, and starts those of continuous tables again; `{"streams": [...]}` of them.
    *
    * @param json
    *   a request of no statement, for what the server allows
    */
  def openStreams(session: SparkSession, json: String): String = answered(StackTrace.Kept, "") {
    Streams.open()
    val root = mapper.createObjectNode()
    val list = root.putArray("streams")
    ContinuousTables.takeUp(session, mapper.readTree(json)).foreach(s => list.add(s.told))
    root
  }

  /** Ends all streams; those of continuous tables are started again with the next server. */
  def closeStreams(): Unit = {
    Streams.close()
    ContinuousTables.close()
  }

  private def asked(session: SparkSession, request: OperationRequest)(
      answer: => JsonNode
  ): String =
    answered(request.stack, request.sql) {
      Inquiries.under(session.sparkContext, request.operation)(answer)
    }

  private def answered(stack: StackTrace, statement: String)(answer: => JsonNode): String = {
    val root = mapper.createObjectNode()
    def failed(error: Throwable): Unit =
      root.set[JsonNode]("failure", mapper.readTree(Failure.json(error, stack, statement))): Unit
    try root.set[JsonNode]("answer", answer): Unit
    catch {
      case NonFatal(error) => failed(error)
      case error: LinkageError => failed(error)
      case _: StackOverflowError => failed(OperationFailed.tooDeep)
      case _: OutOfMemoryError => failed(OperationFailed.outOfMemory)
    }
    root.toString
  }
}
