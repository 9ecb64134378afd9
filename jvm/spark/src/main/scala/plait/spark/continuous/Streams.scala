// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import scala.collection.mutable

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryListener}

import plait.spark.result.OperationFailed

/** The streams of all remote clients.
  *
  *   1. They are the server's: a stream lives on when the session that it was started in does not.
  *   1. An owner finds only streams of their own; names of two owners may be the same.
  *   1. An owner has at most so many that run; of those that have ended as many are kept, the newest.
  */
object Streams {
  private val all = mutable.LinkedHashMap.empty[(String, String), RunningStream]
  private var closed = false

  /** Starts a query and keeps it.
    *
    * @param most
    *   how many an owner may have
    * @param query
    *   starts it under the name that it is given, in `session`
    */
  def start(session: SparkSession, title: StreamTitle, most: Int, records: Int)(
      query: => StreamingQuery
  ): RunningStream = {
    reserve(title, most)
    val newest = new NewestRecords(records)
    val ear = new Ear(session, title.name, newest)
    session.streams.addListener(ear)
    try {
      val stream = new RunningStream(title, Right(untagged(session)(query)), newest)
      synchronized {
        reserved -= key(title)
        all.remove(key(title)): Unit // an ended one of the same name
        all(key(title)) = stream
        forgetOldest(title.owner, most)
      }
      stream
    } catch {
      case error: Throwable =>
        session.streams.removeListener(ear)
        synchronized(reserved -= key(title))
        throw error
    }
  }

  /** Keeps one that could not be started, so that its owner is told why, unless one of its name runs. */
  def failed(title: StreamTitle, error: Throwable): RunningStream = synchronized {
    val stream = new RunningStream(title, Left(error), new NewestRecords(1))
    if (!all.get(key(title)).exists(_.isActive)) all(key(title)) = stream
    stream
  }

  /** Those of an owner, the newest first. */
  def of(owner: String): Seq[RunningStream] = synchronized {
    all.values.filter(_.title.owner == owner).toSeq.reverse
  }

  /** How many run, of all owners. */
  def running: Int = synchronized(all.values.count(_.isActive))

  def find(owner: String, name: String): RunningStream = synchronized {
    all.getOrElse(
      (owner, name),
      throw new OperationFailed(
        "missing",
        "STREAM_NOT_FOUND",
        s"There is no stream '$name' of this caller: it never began here, it has ended and was forgotten, or " +
          "the server has been restarted.",
        None
      )
    )
  }

  /** Ends a stream, and forgets it if it had ended. */
  def stop(stream: RunningStream): Unit =
    if (stream.isActive) stream.stop() else forget(stream)

  def forget(stream: RunningStream): Unit = synchronized {
    if (all.get(key(stream.title)).contains(stream)) all.remove(key(stream.title)): Unit
  }

  /** The one that fills a table, if it is one of these. */
  def filling(table: String): Option[RunningStream] = synchronized {
    all.values.find(_.title.table.contains(table))
  }

  /** Ends all of them, and takes no more. */
  def close(): Unit = {
    val active = synchronized {
      closed = true
      all.values.filter(_.isActive).toSeq
    }
    val stops = active.map(stream => new Thread(() => stream.stop(), s"stop-${stream.title.name}"))
    stops.foreach(_.start())
    stops.foreach(_.join())
  }

  /** Takes streams from now on: a server has been started. */
  def open(): Unit = synchronized {
    closed = false
    all.clear()
  }

  /** Names of streams that are being started. */
  private val reserved = mutable.Set.empty[(String, String)]

  private def key(title: StreamTitle): (String, String) = (title.owner, title.name)

  private def reserve(title: StreamTitle, most: Int): Unit = synchronized {
    if (closed)
      throw new OperationFailed("ending", "SERVER_STOPS", "The server is shutting down.", None)
    if (reserved.contains(key(title)) || all.get(key(title)).exists(_.isActive))
      throw new OperationFailed(
        "exists",
        "STREAM_EXISTS",
        s"A stream '${title.name}' of this caller runs already: stop it, or take another name.",
        None
      )
    val mine = all.values.count(s => s.title.owner == title.owner && s.isActive) +
      reserved.count(_._1 == title.owner)
    if (mine >= most)
      throw new OperationFailed(
        "limit",
        "TOO_MANY_STREAMS",
        s"$mine streams of this caller run, the server's limit: stop one.",
        None
      )
    reserved += key(title): Unit
  }

  private def forgetOldest(owner: String, most: Int): Unit = {
    val ended =
      all.values.filter(s => s.title.owner == owner && !s.isActive && s.title.table.isEmpty)
    ended.toSeq.dropRight(most).foreach(forget)
  }

  /** The jobs of a query carry the tags of the thread that starts it, and those of an operation are cancelled
    * by its tag when it ends.
    */
  private def untagged[A](session: SparkSession)(body: => A): A = {
    val context = session.sparkContext
    val tags = context.getJobTags()
    context.clearJobTags()
    try body
    finally tags.foreach(context.addJobTag)
  }

  /** Hears of one query: of two of one name that run one after the other, of the one that is newer. */
  final private class Ear(session: SparkSession, name: String, records: NewestRecords)
      extends StreamingQueryListener {
    import StreamingQueryListener._

    @volatile private var run = Option.empty[java.util.UUID]

    override def onQueryStarted(event: QueryStartedEvent): Unit =
      if (run.isEmpty && event.name == name) run = Some(event.runId)

    override def onQueryProgress(event: QueryProgressEvent): Unit =
      if (run.contains(event.progress.runId)) records.add(event.progress.json)

    override def onQueryTerminated(event: QueryTerminatedEvent): Unit =
      if (run.contains(event.runId)) {
        records.end()
        session.streams.removeListener(this)
      }
  }
}
