// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.nio.file.Paths
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable
import scala.util.Try
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException
import org.apache.spark.sql.classic.SparkSession

import plait.spark.result.{OperationFailed, OperationRequest}

/** The tables of a server that streaming queries fill.
  *
  * {{{
  * create n     the query is analysed | table n | written down | the query starts
  * drop n       the query ends | table n goes | forgotten | its folder goes
  * restart      what is written down starts again, from its checkpoint
  * }}}
  *
  *   1. A table that is written down has a query, or had one that ended with an error, which its owner is told.
  *   1. A table is made or dropped alone: another call for the same name waits, and finds what this one has left. Other
  *      tables do not wait for it.
  *   1. What a restart cannot start stays written down: `CREATE ... IF NOT EXISTS` tries again, DROP TABLE forgets it.
  *   1. The catalog may have forgotten the table in the meantime, as the one in memory does: it is made again over its
  *      files.
  */
final class ContinuousTables(folder: TableFolder) {
  private val known = mutable.LinkedHashMap.empty[String, ContinuousTable]

  /** Takes the folder, and reads what is written down. */
  def open(): Unit = synchronized {
    if (!folder.lock())
      throw new OperationFailed(
        "limit",
        "STATE_IN_USE",
        s"Another server has the folder ${folder.root} of continuous tables: stop it, or take another one for `state`.",
        None
      )
    known.clear()
    folder.read().foreach(table => known(table.table) = table)
  }

  def close(): Unit = folder.unlock()

  def isEmpty: Boolean = synchronized(known.isEmpty)

  def find(name: TableName): Option[ContinuousTable] = synchronized(known.get(name.dotted))

  /** Those in the database of a table, or in one that is in it. */
  def beside(name: TableName): Seq[ContinuousTable] =
    synchronized(known.values.filter(_.name.isBeside(name)).toSeq)

  /** Refuses what would write to a table beside its query. */
  def refuseTarget(name: TableName): Unit = if (find(name).isDefined)
    throw new OperationFailed(
      "statement",
      "CONTINUOUS_TABLE",
      s"The table ${name.dotted} is filled by a stream, which alone writes to it. Read it, or end it by DROP TABLE.",
      None
    )

  /** Refuses to let the database of a table go with tables of ours in it. */
  def refuseDropAround(name: TableName): Unit =
    beside(name).headOption.foreach { table =>
      throw new OperationFailed(
        "statement",
        "CONTINUOUS_TABLE",
        s"The database has the table ${table.table}, which a stream fills: end it by DROP TABLE first.",
        None
      )
    }

  /** Makes a table and starts its query; None if it is there and may be. */
  def create(
      session: SparkSession,
      request: OperationRequest,
      name: TableName,
      ifNotExists: Boolean
  )(
      made: => ContinuousTable
  ): Option[RunningStream] = NameLocks.OfTables.alone(name.dotted) {
    val isThere = session.sessionState.catalog.tableExists(name.identifier)
    find(name) match {
      case Some(before) if ifNotExists && before.owner == request.owner && !isRunning(before) =>
        Some(begin(session, before, request))
      case before if ifNotExists && (before.isDefined || isThere) => None
      case before if before.isDefined || isThere =>
        throw new TableAlreadyExistsException(name.parts)
      case _ =>
        val table = made
        refuseNameOf(table) // before it is analysed, which takes its time
        Some(createNew(session, table, request))
    }
  }

  /** After a restart two streams of one owner and name could not both run. */
  private def refuseNameOf(table: ContinuousTable): Unit = synchronized {
    known.values
      .find(other => other.owner == table.owner && other.stream == table.stream)
      .foreach { other =>
        throw new OperationFailed(
          "exists",
          "STREAM_EXISTS",
          s"A stream '${table.stream}' of this caller fills the table ${other.table}: take another name.",
          None
        )
      }
  }

  def drop(session: SparkSession, table: ContinuousTable): Unit =
    NameLocks.OfTables.alone(table.table) {
      Streams.filling(table.table).foreach { stream =>
        stream.stop()
        Streams.forget(stream)
      }
      Shielded {
        // Forgotten last: what ends in between is dropped by saying so again.
        new TableQuery(session, table, folder).dropTable()
        forget(table)
        folder.delete(table)
      }
    }

  /** Starts all again; what cannot be started is told of as a stream that has failed.
    *
    * @param like
    *   a request of now, for what the server allows
    */
  def takeUp(session: SparkSession, like: JsonNode): Seq[RunningStream] = {
    val tables = synchronized(known.values.toVector)
    folder.sweep(tables)
    tables.map { table =>
      try begin(session, table, new OperationRequest(table.statement(like)))
      catch { case NonFatal(error) => Streams.failed(table.title, error) }
    }
  }

  private def isRunning(table: ContinuousTable): Boolean =
    Streams.filling(table.table).exists(_.isActive)

  private def createNew(
      session: SparkSession,
      table: ContinuousTable,
      request: OperationRequest
  ): RunningStream = {
    val query = new TableQuery(session, table, folder).analysed(request)
    if (!query.createTable()) throw new TableAlreadyExistsException(table.name.parts)
    try {
      Shielded(keep(table))
      start(query, table, request)
    } catch {
      case error: Throwable =>
        Shielded {
          Seq(() => forget(table), () => query.table.dropTable(), () => folder.delete(table))
            .foreach(step => Try(step()).failed.foreach(error.addSuppressed))
        }
        throw error
    }
  }

  /** Starts the query of a table that is written down. */
  private def begin(
      session: SparkSession,
      table: ContinuousTable,
      request: OperationRequest
  ): RunningStream = {
    // What the table was made by counts, and not what has come now.
    val stored = new OperationRequest(table.statement(request.root))
    val query = new TableQuery(session, table, folder).analysed(stored)
    query.createTable(): Unit
    start(query, table, stored)
  }

  private def start(
      query: AnalysedTableQuery,
      table: ContinuousTable,
      request: OperationRequest
  ): RunningStream =
    Streams.start(query.session, table.title, request.streams, request.records)(query.start())

  private def keep(table: ContinuousTable): Unit = synchronized {
    refuseNameOf(table) // another table may have taken it meanwhile
    folder.write(known.values ++ Seq(table))
    known(table.table) = table
  }

  private def forget(table: ContinuousTable): Unit = synchronized {
    if (known.get(table.table).exists(_.id == table.id)) {
      folder.write(known.values.filterNot(_.id == table.id))
      known.remove(table.table): Unit
    }
  }
}

object ContinuousTables {
  private val all = new ConcurrentHashMap[String, ContinuousTables]

  /** Those of a server that has this folder. */
  def at(state: Option[String]): ContinuousTables = knownAt(state).getOrElse {
    throw new OperationFailed(
      "refused",
      "NO_STATE_FOLDER",
      "This server has no folder in which it could keep continuous tables, so that they outlive a restart. Its operator " +
        "gives it one by `plait serve --state DIR`, or `state` in [server].",
      None
    )
  }

  def knownAt(state: Option[String]): Option[ContinuousTables] = state.map { path =>
    all.computeIfAbsent(
      path,
      p => {
        val tables = new ContinuousTables(new TableFolder(Paths.get(p)))
        tables.open()
        tables
      }
    )
  }

  /** At the start of a server. */
  def takeUp(session: SparkSession, like: JsonNode): Seq[RunningStream] = {
    val state = new OperationRequest(like).state
    knownAt(state).toSeq.flatMap(_.takeUp(session, like))
  }

  /** At the end of a server. */
  def close(): Unit = {
    all.values.forEach(_.close())
    all.clear()
  }

  /** A stream of a continuous table is not stopped by itself: nobody could tell whether a restart is to start it. */
  def refuseToStop(stream: RunningStream): Unit = stream.title.table.foreach { table =>
    throw new OperationFailed(
      "statement",
      "CONTINUOUS_TABLE",
      s"The stream '${stream.title.name}' fills the table $table and lives as long as that: DROP TABLE $table ends it, and " +
        "its rows go too.",
      None
    )
  }
}
