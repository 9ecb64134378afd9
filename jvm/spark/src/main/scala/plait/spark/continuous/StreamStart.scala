// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand
import org.apache.spark.sql.plait.AnalysedQuery
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}

import plait.spark.Admission
import plait.spark.guard.{SinkGuard, StatementGuard}
import plait.spark.result.OperationFailed

/** Starts the stream that a request asks for.
  *
  * {{{
  * SELECT * FROM STREAM orders            with a sink: a query, judged as any, into it
  * CREATE STREAMING TABLE n AS ...        without: see [[ContinuousStatement]]
  * }}}
  *
  *   1. The query is judged by the guard as a statement that is run is, and so are its sink and its checkpoint.
  *   1. A stream does not take the place of another one that runs from the same checkpoint, whoever's that is.
  */
final class StreamStart(session: SparkSession, request: StreamRequest) {
  import StreamStart._

  private val statement = request.statement
  private val grant = Admission.grantOf(statement)
  private val sinks = new SinkGuard(session, grant)

  def run(): RunningStream = session.withActive {
    FilledTables.readAnew(session)
    val parsed = Admission.judged {
      sinks.checkScope()
      StatementGuard.read(session, statement.sql, statement.named, statement.positional)
    }
    ContinuousStatement.creation(session, statement, parsed) match {
      case Some(creation) => created(creation)
      case None => started(analysed(parsed))
    }
  }

  /** Ends what [[run]] has started for a caller who has gone meanwhile. A continuous table stays: it has a name, by which
    * it may have been asked for before.
    */
  def undo(stream: RunningStream): Unit = if (stream.title.table.isEmpty)
    Shielded {
      stream.stop()
      Streams.forget(stream)
    }

  private def created(creation: CreateContinuousTable): RunningStream = {
    if (request.sink.isDefined || request.checkpoint.isDefined)
      throw wrong(
        "A CREATE statement says itself where the rows go: leave sink and checkpoint out."
      )
    if (request.mode != "append")
      throw wrong(
        s"The mode ${request.mode} takes rows back, and a continuous table only grows: leave the mode out, or " +
          "start a query into a sink of its own."
      )
    val every = request.every.getOrElse {
      throw wrong("A continuous table runs on: give it a trigger of processing time, or none.")
    }
    creation.start(every, request.name)
  }

  private def analysed(parsed: LogicalPlan): DataFrame = {
    if (parsed.exists(_.isInstanceOf[Command]))
      throw wrong(
        "A stream is a query or a CREATE STREAMING TABLE ... AS; run other statements by Execute."
      )
    val plan = Admission.judged(StatementGuard.admit(session, parsed, grant))
    if (plan.exists(_.isInstanceOf[Command]) || !plan.isStreaming) throw noStream
    AnalysedQuery.dataFrame(session, plan)
  }

  private def started(df: DataFrame): RunningStream = {
    val sink = request.sink.getOrElse {
      throw wrong("A query needs a sink: a table, files, or nowhere.")
    }
    Admission.judged(request.checkpoint.foreach(sinks.checkCheckpoint))
    if (request.checkpoint.isEmpty && sink != Sink.Nowhere)
      throw wrong(
        "A stream into a table or files needs a checkpoint: an absolute path in a folder that the server has opened."
      )
    val title = StreamTitle(
      statement.owner,
      request.name,
      statement.sql,
      described(sink),
      request.mode,
      None
    )
    Streams.start(session, title, statement.streams, statement.records)(query(df, sink))
  }

  private def described(sink: Sink): String = sink match {
    case Sink.Table(name) => s"table ${nameOf(name).dotted}"
    case other => other.described
  }

  private def query(df: DataFrame, sink: Sink): StreamingQuery = {
    val writer = df.writeStream
      .outputMode(request.outputMode)
      .trigger(request.trigger)
      .queryName(request.name)
    request.checkpoint.foreach(writer.option("checkpointLocation", _))
    sink match {
      case Sink.Nowhere => tidied()(alone(session)(writer.format("noop").start()))
      case Sink.Files(format, path, options) =>
        Admission.judged(sinks.checkFiles(format, path, options))
        tidied(path) {
          into(new Path(path))(alone(session)(writer.format(format).options(options).start(path)))
        }
      case Sink.Table(name) => tidied()(intoTable(writer, name))
    }
  }

  /** Leaves no new folders of a stream that does not start, of its checkpoint neither; one start of a checkpoint at a
    * time, so that it does not take away what another one has found.
    */
  private def tidied(folders: String*)(start: => StreamingQuery): StreamingQuery = {
    val all = (request.checkpoint ++ folders).map(new Path(_)).toSeq
    def whole = new NewFolders(all, session.sessionState.newHadoopConf()).unless(start)
    request.checkpoint.fold(whole)(path => NameLocks.OfCheckpoints.alone(path)(whole))
  }

  /** One at a time for a table: one that was not there before is this one's, and goes with it if it cannot start. */
  private def intoTable(writer: DataStreamWriter[Row], written: String): StreamingQuery = {
    val name = nameOf(written)
    NameLocks.OfTables.alone(name.dotted) {
      ContinuousTables.knownAt(statement.state).foreach(_.refuseTarget(name))
      val before = provider(name)
      if (before.isDefined || !name.isOfSession) Admission.judged(sinks.checkTable(name.dotted))
      val made = writer.format(before.flatten.getOrElse(NewFormat))
      try
        FilledTables.filling(name) {
          intoFilesOf(name)(alone(session)(made.toTable(quoted(name))))
        }
      catch {
        case error: Throwable =>
          // What Spark has made for the query that it then refuses.
          if (before.isEmpty && name.isOfSession)
            Shielded(session.sessionState.catalog.dropTable(name.identifier, true, false))
          throw error
      }
    }
  }

  private def into(folder: Path)(start: => StreamingQuery): StreamingQuery =
    new SinkFolder(folder, session.sessionState.newHadoopConf())
      .owned(
        new Path(request.checkpoint.get),
        Admission.judged(sinks.checkUnknown(folder.toString))
      )(start)

  /** A table that was not there lies where Spark puts it, and is this stream's then. */
  private def intoFilesOf(name: TableName)(start: => StreamingQuery): StreamingQuery =
    filesOf(name) match {
      case Some(folder) => into(folder)(start)
      case None =>
        val query = start
        try {
          filesOf(name)
            .foreach(new SinkFolder(_, session.sessionState.newHadoopConf()).note(query))
          query
        } catch {
          case error: Throwable =>
            // Nobody could stop it, for nobody is told of it.
            Try(Shielded(query.stop())): Unit
            throw error
        }
    }

  /** Where the files of a table lie, if Spark writes them itself. */
  private def filesOf(name: TableName): Option[Path] = {
    val ofSession = session.sessionState.catalog
    Option
      .when(name.isOfSession && ofSession.tableExists(name.identifier)) {
        ofSession.getTableMetadata(name.identifier)
      }
      .filter(table => table.provider.exists(sinks.isOfFiles))
      .flatMap(_.storage.locationUri)
      .map(new Path(_))
  }

  /** The format of a table that is there. */
  private def provider(name: TableName): Option[Option[String]] = {
    import session.sessionState.analyzer.CatalogAndIdentifier
    val ofSession = session.sessionState.catalog
    name.parts match {
      case _ if name.isOfSession =>
        Option.when(ofSession.tableExists(name.identifier)) {
          ofSession.getTableMetadata(name.identifier).provider
        }
      case CatalogAndIdentifier(tables: TableCatalog, identifier) =>
        Option.when(tables.tableExists(identifier))(None)
      case _ => None // Spark says that the catalog has no tables
    }
  }

  private def nameOf(written: String): TableName =
    TableName.of(session, session.sessionState.sqlParser.parseMultipartIdentifier(written))
}

object StreamStart {

  /** The format of tables that a stream makes. */
  private[continuous] val NewFormat = "parquet"

  private[continuous] def wrong(sentence: String): OperationFailed =
    new OperationFailed("request", "INVALID_REQUEST", sentence, None)

  private[continuous] def noStream: OperationFailed = new OperationFailed(
    "statement",
    "NO_STREAM",
    "The query reads no stream: write STREAM t for a table t whose new rows it is to follow, or run it by Execute.",
    None
  )

  /** A query over streams is started, and not run; of a view over them it is only the making that runs. */
  def refuseToRun(plan: LogicalPlan): Unit = {
    val made = plan.collect { case create: CreateDataSourceTableAsSelectCommand => create.query }
    if ((plan +: made).exists(_.isStreaming))
      throw new OperationFailed(
        "statement",
        "STREAM_QUERY",
        "The statement reads a stream, whose rows have no end, so it cannot be run: start its query by StartStream " +
          "(client.start_stream, or plait streams start), or make a table that it fills by CREATE STREAMING TABLE ... AS.",
        None
      )
  }

  private[continuous] def quoted(name: TableName): String =
    name.parts.map(part => s"`${part.replace("`", "``")}`").mkString(".")

  /** Starts a query; without this, Spark ends another one that runs from the same checkpoint. */
  private[continuous] def alone(session: SparkSession)(start: => StreamingQuery): StreamingQuery = {
    session.sessionState.conf.setConfString(StopOther, "false")
    try whole(start)
    catch {
      case error: IllegalStateException if isInUse(error) =>
        throw new OperationFailed(
          "exists",
          "CHECKPOINT_IN_USE",
          "Another stream runs from this checkpoint: stop it, or take another folder.",
          None
        )
    }
  }

  /** Spark has no name for it. */
  private def isInUse(error: IllegalStateException): Boolean =
    Option(error.getMessage).exists(_.contains("another query with same id is already active"))

  /** Starts a query to the end: Spark forgets one whose start is interrupted, and its thread runs on. Interrupted
    * meanwhile, it is stopped as soon as it has started.
    */
  private[continuous] def whole(start: => StreamingQuery): StreamingQuery = {
    val query = Shielded(start)
    if (Thread.interrupted()) {
      Try(Shielded(query.stop())): Unit
      throw new InterruptedException
    }
    query
  }

  private[continuous] val StopOther = "spark.sql.streaming.stopActiveRunOnRestart"
}
