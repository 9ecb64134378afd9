// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import scala.util.Try

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.{UnresolvedIdentifier, UnsupportedOperationChecker}
import org.apache.spark.sql.catalyst.plans.logical.{
  ColumnDefinition,
  CreatePipelineDatasetAsSelect,
  CreateTable,
  LogicalPlan,
  TableSpec
}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.plait.AnalysedQuery
import org.apache.spark.sql.streaming.OutputMode.{Append, Complete, Update}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.types.{Metadata, StructType}

import plait.spark.Admission
import plait.spark.guard.StatementGuard
import plait.spark.result.{OperationFailed, OperationRequest}

/** The query of a continuous table, read in a session of its own, as it will be after a restart: nothing of the
  * session that made the table is there but its settings and its current database.
  */
final private[continuous] class TableQuery(
    client: SparkSession,
    table: ContinuousTable,
    folder: TableFolder
) {
  private val own = table.session(client)

  /** Parses, admits and analyses the statement; nothing is made yet. */
  def analysed(request: OperationRequest): AnalysedTableQuery = {
    val create = parsed(own, request)
    val plan = surviving(create, request)
    if (!plan.isStreaming) throw notStreaming
    new AnalysedTableQuery(this, own, table, folder, create, AnalysedQuery.dataFrame(own, plan))
  }

  def dropTable(): Unit =
    own.sessionState.catalog.dropTable(
      table.name.identifier,
      ignoreIfNotExists = true,
      purge = false
    )

  private def parsed(
      session: SparkSession,
      request: OperationRequest
  ): CreatePipelineDatasetAsSelect = Admission.judged {
    val grant = Admission.grantOf(request)
    StatementGuard.parse(session, request.sql, request.named, request.positional, grant) match {
      case create: CreatePipelineDatasetAsSelect => create
      case other => throw new IllegalStateException(s"${table.table} is made by ${other.nodeName}")
    }
  }

  private def analysed(
      session: SparkSession,
      create: CreatePipelineDatasetAsSelect,
      request: OperationRequest
  ): LogicalPlan = Admission.judged {
    StatementGuard.analyse(session, create.query, Admission.grantOf(request))
  }

  private def surviving(
      create: CreatePipelineDatasetAsSelect,
      request: OperationRequest
  ): LogicalPlan =
    try analysed(own, create, request)
    catch {
      case error: AnalysisException
          if Try(analysed(client, parsed(client, request), request)).isSuccess =>
        throw ContinuousStatement.refused(
          "The query of a continuous table outlives its session, so it cannot use temporary views, functions and variables of " +
            s"the session: write them out in the query, or make them in the catalog. (${error.getSimpleMessage})"
        )
    }

  private def notStreaming: OperationFailed =
    ContinuousStatement.refused(
      s"The query of ${table.table} reads no stream, and a table that is made anew whenever others change is not supported " +
        "yet, because rows would have to be taken back. Write STREAM t for a table t whose new rows it is to follow; or " +
        "make it once by CREATE TABLE ... AS, or each time by CREATE VIEW."
    )
}

/** The query, with its columns known. */
final private[continuous] class AnalysedTableQuery(
    val table: TableQuery,
    val session: SparkSession,
    definition: ContinuousTable,
    folder: TableFolder,
    create: CreatePipelineDatasetAsSelect,
    df: DataFrame
) {
  private val name = definition.name
  private val spec = create.tableSpec.asInstanceOf[TableSpec]
  private val provider = spec.provider.getOrElse(StreamStart.NewFormat)

  /** Makes the table over its folder, if the catalog has none.
    * @return
    *   whether it has made it
    */
  def createTable(): Boolean = {
    val isMissing = !session.sessionState.catalog.tableExists(name.identifier)
    if (isMissing) makeTable()
    isMissing
  }

  private def makeTable(): Unit = {
    val rows = folder.rows(definition)
    val isNew = folder.makeRows(definition)
    val parser = session.sessionState.sqlParser
    val statement = CreateTable(
      UnresolvedIdentifier(name.parts),
      columns.map(ColumnDefinition.fromV1Column(_, parser)),
      create.partitioning,
      spec.copy(provider = Some(provider), location = Some(rows.toUri.toString)),
      ignoreIfExists = false
    )
    try AnalysedQuery.dataFrame(session, statement): Unit
    catch {
      case error: Throwable =>
        Shielded(if (isNew) folder.deleteEmpty(definition))
        throw error
    }
  }

  def start(): StreamingQuery = {
    val writer = df.writeStream
      .queryName(definition.stream)
      .outputMode("append")
      .trigger(Trigger.ProcessingTime(definition.every))
      .option("checkpointLocation", folder.checkpoint(definition).toUri.toString)
      .format(provider)
    if (partitions.nonEmpty) writer.partitionBy(partitions: _*)
    try
      FilledTables.filling(name) {
        StreamStart.alone(session)(writer.toTable(StreamStart.quoted(name)))
      }
    catch { case error: AnalysisException if takesRowsBack => throw notAppendOnly(error) }
  }

  /** Those of the query, without what Spark notes on columns of streams. */
  private def columns: StructType =
    StructType(df.schema.map(_.copy(nullable = true, metadata = Metadata.empty)))

  private val partitions: Seq[String] = create.partitioning.map {
    case column if column.name == "identity" && column.references.head.fieldNames.length == 1 =>
      column.references.head.fieldNames.head
    case other =>
      throw ContinuousStatement.refused(
        s"A continuous table is partitioned by columns, and ${other.describe} is none: compute it as a column of the query."
      )
  }

  /** Would the query run if what came out could change later? */
  private def takesRowsBack: Boolean = {
    val plan = df.queryExecution.analyzed
    Seq(Update(), Complete()).exists { mode =>
      Try(UnsupportedOperationChecker.checkForStreaming(plan, mode)).isSuccess
    } && Try(UnsupportedOperationChecker.checkForStreaming(plan, Append())).isFailure
  }

  private def notAppendOnly(error: AnalysisException): OperationFailed = new OperationFailed(
    "statement",
    "NOT_APPEND_ONLY",
    s"A row of this query may change after it has come out, and the table ${name.dotted} only grows; to take rows back is not " +
      "supported yet. Give the stream a watermark, as in STREAM t WATERMARK ts DELAY OF INTERVAL 10 MINUTES, and group by a " +
      "window of its time; or start the query with the mode update or complete into a sink of its own. " +
      s"(${error.getSimpleMessage})",
    None
  )
}
