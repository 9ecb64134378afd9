// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.io.IOException
import java.net.Socket

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.plait.{ArrowBatch, ArrowShape}

/** One statement being run, from its admission to its last frame.
  *
  *   1. It runs in a thread of its own, and its jobs carry the tag `plait-` and the operation's id.
  *   1. It waits where its reader does not read: nothing is made that nobody takes.
  *   1. A reader who has gone ends it, and so does [[cancel]]; both end its jobs too.
  *   1. Its last frame is `E` or `F`, if there still is a reader.
  *
  * @param query
  *   admits and analyses the statement; what it throws is the operation's failure
  * @param counters
  *   JSON of what Plait's joins have counted
  */
final class Operation(
    request: OperationRequest,
    session: SparkSession,
    socket: ResultSocket,
    query: OperationRequest => DataFrame,
    counters: QueryExecution => String
) extends Runnable {
  private val context = session.sparkContext
  private val tag = Operation.tagOf(request.operation)
  private val began = System.nanoTime
  @volatile private var cancelled = false
  @volatile private var hasEnded = false
  @volatile private var thread: Option[Thread] = None
  private var rows = 0L
  private var bytes = 0L

  override def run(): Unit = {
    thread = Some(Thread.currentThread)
    try {
      val reader = socket.accept()
      try write(new FrameWriter(reader.getOutputStream))
      finally close(reader)
    } catch { case _: IOException | _: ReaderGone => } // nobody came, or has gone
    finally {
      socket.close()
      cancelJobs()
    }
  }

  /** Cancelled, and perhaps not at its end: not all of Spark's planning hears an interrupt. */
  def isCancelled: Boolean = cancelled

  /** Ends the statement and its jobs; the frames end with the failure `cancelled`. */
  def cancel(): Unit = {
    cancelled = true
    cancelJobs()
    thread.foreach(_.interrupt())
  }

  /** Of a statement that has ended well nothing is to come. */
  private def cancelJobs(): Unit =
    if (!hasEnded) CancelledJobs.cancel(context, tag)
    else if (!context.isStopped) context.cancelJobsWithTag(tag)

  private def write(writer: FrameWriter): Unit = {
    val progress = new Progress(context, tag, writer)
    val last =
      try {
        prepare()
        Frame.Ended(produce(query(request), writer))
      } catch {
        case gone: ReaderGone => throw gone
        case NonFatal(error) => Frame.Failed(failure(error))
        case error: InterruptedException => Frame.Failed(failure(error))
        case error: LinkageError => Frame.Failed(failure(error))
        case _: StackOverflowError => Frame.Failed(failure(OperationFailed.tooDeep))
        case _: OutOfMemoryError => Frame.Failed(failure(OperationFailed.outOfMemory))
      } finally progress.stop()
    writer.write(last)
    hasEnded = last.isInstanceOf[Frame.Ended]
  }

  private def prepare(): Unit = {
    if (cancelled) throw new InterruptedException
    SparkSession.setActiveSession(session)
    val described = request.sql.take(Operation.DescribedCharacters)
    context.setJobGroup(tag, described, interruptOnCancel = true)
    context.addJobTag(tag)
  }

  private def produce(df: DataFrame, writer: FrameWriter): String = {
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val shape = ArrowShape(df.schema, zone, request.batchBytes)
    writer.write(Frame.Schema(shape.schemaMessage))
    new ResultRows(df, shape).foreach { batch =>
      count(batch)
      writer.write(Frame.Batch(batch.rows, batch.message))
    }
    ended(df)
  }

  private def count(batch: ArrowBatch): Unit = {
    rows += batch.rows
    bytes += batch.message.length
    if (cancelled) throw new InterruptedException
    if (request.maxRows > 0 && rows > request.maxRows) throw tooLarge("rows", request.maxRows)
    if (request.maxBytes > 0 && bytes > request.maxBytes) throw tooLarge("bytes", request.maxBytes)
  }

  private def tooLarge(what: String, limit: Long): OperationFailed = new OperationFailed(
    "limit",
    "RESULT_TOO_LARGE",
    s"The result has more than $limit $what, which is this server's limit for one statement: " +
      "select less, aggregate, or add a LIMIT.",
    None
  )

  private def ended(df: DataFrame): String = {
    val root = Operation.mapper.createObjectNode()
    root.put("rows", rows).put("bytes", bytes)
    root.put("milliseconds", (System.nanoTime - began) / 1000000L)
    val joins: JsonNode = Operation.mapper.readTree(counters(df.queryExecution))
    root.set[JsonNode]("joins", joins)
    root.toString
  }

  private def failure(error: Throwable): String =
    if (!cancelled) Failure.json(error, request.stack, request.sql)
    else Failure.json(OperationFailed.cancelled, StackTrace.Kept, request.sql)

  private def close(reader: Socket): Unit =
    try reader.close()
    catch { case _: IOException => }
}

object Operation {
  private val mapper = Json.mapper
  private val DescribedCharacters = 200

  def tagOf(operation: String): String = s"plait-$operation"
}
