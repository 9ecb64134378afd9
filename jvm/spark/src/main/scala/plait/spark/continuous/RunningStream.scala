// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.streaming.StreamingQuery

import plait.spark.result.{Failure, Json, StackTrace}

/** Whose a stream is and what it is called, its statement, where its rows go, and which come out. */
final case class StreamTitle(
    owner: String,
    name: String,
    sql: String,
    sink: String,
    mode: String,
    table: Option[String]
)

/** A stream of a remote client: a streaming query and the newest records of its progress; or one that could
  * not be started again, and why.
  *
  *   1. It is over once its query is and all of its progress has come, or some seconds later: Spark tells of
  *      progress later than of the end.
  *   1. Times are milliseconds since 1970.
  */
final class RunningStream(
    val title: StreamTitle,
    course: Either[Throwable, StreamingQuery],
    val records: NewestRecords
) {
  import RunningStream._

  private val started = System.currentTimeMillis
  @volatile private var stopped = false
  @volatile private var ended = if (course.isLeft) started else 0L

  /** Does it run, or does Spark hold its name? It forgets a query a moment after that is not active. */
  def isActive: Boolean = course.exists(query => query.isActive || isKnown(query))

  private def isKnown(query: StreamingQuery): Boolean =
    Option(query.sparkSession.streams.get(query.id)).exists(_.runId == query.runId)

  /** Has everything been told? */
  def isOver: Boolean = !isActive && {
    if (ended == 0L) ended = System.currentTimeMillis
    records.isOver || course.isLeft || System.currentTimeMillis - ended > Patience
  }

  /** Ends the query and waits until it has ended; one that has ended keeps its state. */
  def stop(): Unit = course.foreach { query =>
    if (query.isActive) stopped = true
    query.stop()
  }

  private def failure: Option[Throwable] =
    course.fold(Some(_), query => query.exception.filter(_ => !stopped))

  def state: String =
    if (isActive) "running"
    else if (failure.isDefined) "failed"
    else if (stopped) "stopped"
    else "finished"

  /** {{{
    * {"name": "orders", "query": "0c9...", "state": "failed", "started": 1790000000000, "ended": 0, "sink": "parquet /data/o",
    *  "mode": "append", "table": "", "last": {"number": 7, "progress": {...}}, "failure": {...}}
    * }}}
    * `last` and `failure` are missing where there is none.
    */
  def told: ObjectNode = {
    val root = mapper.createObjectNode()
    val now = state
    if (now != "running" && ended == 0L) ended = System.currentTimeMillis
    root.put("owner", title.owner).put("name", title.name).put("state", now)
    root.put("query", course.fold(_ => "", _.id.toString))
    root.put("started", started).put("ended", if (now == "running") 0L else ended)
    root.put("sink", title.sink).put("mode", title.mode).put("table", title.table.getOrElse(""))
    records.last.foreach(record => root.set[JsonNode]("last", numbered(record)))
    if (now == "failed")
      failure.foreach { error =>
        val told = Failure.json(error, StackTrace.Kept, title.sql)
        root.set[JsonNode]("failure", mapper.readTree(told))
      }
    root
  }

  /** `{"stream": ..., "over": false, "records": [{"number": 7, "progress": {...}}]}`, those after `number`. */
  def news(number: Long, millis: Long): ObjectNode = {
    val over = isOver // first: what comes until it is known is told
    val root = mapper.createObjectNode()
    val told = root.putArray("records")
    records.after(number, if (over) 0 else millis).foreach(record => told.add(numbered(record)))
    root.put("over", over)
    root.set[JsonNode]("stream", this.told)
    root
  }
}

object RunningStream {
  private val mapper = Json.mapper

  /** Milliseconds from the end of a query to that of its progress, at most. */
  private val Patience = 5000L

  private def numbered(record: (Long, String)): JsonNode =
    mapper
      .createObjectNode()
      .put("number", record._1)
      .set[JsonNode]("progress", mapper.readTree(record._2))
}
