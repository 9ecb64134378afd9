// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedIdentifier,
  UnresolvedInsertTarget,
  UnresolvedNamespace,
  UnresolvedRelation,
  UnresolvedTable,
  UnresolvedTableOrView
}
import org.apache.spark.sql.catalyst.plans.logical.{
  CreatePipelineDataset,
  CreatePipelineDatasetAsSelect,
  DeleteFromTable,
  DescribeRelation,
  DescribeTablePartition,
  DropNamespace,
  DropTable,
  InsertIntoStatement,
  LogicalPlan,
  MergeIntoTable,
  RenameTable,
  ShowCreateTable,
  ShowPartitions,
  ShowTablePartition,
  ShowTablesExtended,
  SubqueryAlias,
  UnresolvedInsert,
  UpdateTable
}
import org.apache.spark.sql.catalyst.util.StringUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.command.{DescribeRelationJsonCommand, ExplainCommand}

import plait.spark.Admission
import plait.spark.guard.{Scope, StatementGuard}
import plait.spark.result.{OperationFailed, OperationRequest}

/** A statement that makes a continuous table or drops one, recognised by Spark's own parsed plan:
  * {{{
  * CREATE STREAMING TABLE n AS SELECT ...         the query starts, and n fills
  * CREATE MATERIALIZED VIEW n AS SELECT ...       the same, over streams
  * DROP TABLE n                                   the query ends; rows, checkpoint and table go
  * INSERT INTO n, DELETE FROM n, ALTER TABLE n    refused: the query alone writes to n
  * DROP DATABASE d                                refused, while n is in d
  * SHOW CREATE TABLE n, DESCRIBE EXTENDED n       Admin: they tell of the server's folder
  * }}}
  *
  *   1. To make one needs the scope Stream. To drop one needs Stream if the caller has made it, else Admin.
  *   1. All other statements go on as they are.
  */
sealed trait ContinuousStatement {
  def run(): Option[RunningStream]
}

object ContinuousStatement {

  /** What a parsed statement is, if it is one of these; refuses others that would write to such a table. */
  def of(
      session: SparkSession,
      request: OperationRequest,
      parsed: LogicalPlan
  ): Option[ContinuousStatement] = creation(session, request, parsed).orElse {
    ContinuousTables.knownAt(request.state).filterNot(_.isEmpty).flatMap { tables =>
      parsed match {
        case DropTable(named: UnresolvedIdentifier, _, _) =>
          dropped(session, request, tables, named.nameParts)
        case DropNamespace(named: UnresolvedNamespace, _, _) =>
          tables.refuseDropAround(TableName.of(session, named.multipartIdentifier :+ "any"))
          None
        case other =>
          refuseToShow(session, request, tables, other)
          targets(other).foreach(parts => tables.refuseTarget(TableName.of(session, parts)))
          None
      }
    }
  }

  /** A plan is Spark's to refuse too, in words of a pipeline that is not there. */
  def refuseToExplain(plan: LogicalPlan): Unit =
    if (isCreation(plan))
      throw refused(
        "To explain a continuous table is not supported yet, because Spark plans a streaming query when it runs: look at " +
          "its progress, which has what each join did."
      )

  private def isCreation(plan: LogicalPlan): Boolean = plan.exists {
    case explain: ExplainCommand => isCreation(explain.logicalPlan)
    case other => other.isInstanceOf[CreatePipelineDataset]
  }

  def creation(
      session: SparkSession,
      request: OperationRequest,
      parsed: LogicalPlan
  ): Option[CreateContinuousTable] = parsed match {
    case create: CreatePipelineDatasetAsSelect =>
      Admission.judged(StatementGuard.check(session, create, Admission.grantOf(request)))
      Some(new CreateContinuousTable(session, request, create))
    case create: CreatePipelineDataset =>
      Admission.judged(StatementGuard.check(session, create, Admission.grantOf(request)))
      throw refused(
        "A streaming table without a query would be filled by flows, which are not supported yet, because there is " +
          "no pipeline here: say CREATE STREAMING TABLE ... AS SELECT ...."
      )
    case explain: ExplainCommand if isCreation(explain) =>
      Admission.judged(StatementGuard.check(session, explain, Admission.grantOf(request)))
      refuseToExplain(explain)
      None
    case _ => None
  }

  private def dropped(
      session: SparkSession,
      request: OperationRequest,
      tables: ContinuousTables,
      parts: Seq[String]
  ): Option[ContinuousStatement] =
    tables
      .find(TableName.of(session, parts))
      .filterNot(_ => session.sessionState.catalog.isTempView(parts))
      .filter(table => mayDrop(table, request))
      .map(new DropContinuousTable(session, tables, _))

  private def mayDrop(table: ContinuousTable, request: OperationRequest): Boolean = {
    val grant = Admission.grantOf(request)
    grant.opens(Scope.Admin) || (grant.opens(Scope.Stream) && table.owner == request.owner)
  }

  /** The tables that a statement would change. */
  private def targets(parsed: LogicalPlan): Seq[Seq[String]] = parsed match {
    case _: ShowPartitions | _: ShowTablePartition => Nil
    case other => written(other)
  }

  private def written(parsed: LogicalPlan): Seq[Seq[String]] = parsed.collect {
    case insert: InsertIntoStatement => named(insert.table)
    case insert: UnresolvedInsert => named(insert.table)
    case delete: DeleteFromTable => named(delete.table)
    case update: UpdateTable => named(update.table)
    case merge: MergeIntoTable => named(merge.targetTable)
    case rename: RenameTable => named(rename.child)
    case table: UnresolvedTable => Some(table.multipartIdentifier)
    case name: UnresolvedIdentifier if !name.allowTemp => Some(name.nameParts)
  }.flatten

  /** Leaves what tells of the server's folder to Admin. */
  private def refuseToShow(
      session: SparkSession,
      request: OperationRequest,
      tables: ContinuousTables,
      parsed: LogicalPlan
  ): Unit = {
    val grant = Admission.grantOf(request)
    def one(words: String, target: LogicalPlan): Option[(String, ContinuousTable)] = for {
      parts <- named(target) if !session.sessionState.catalog.isTempView(parts)
      table <- tables.find(TableName.of(session, parts))
    } yield words -> table
    val shown = parsed match {
      case show: ShowCreateTable => one("SHOW CREATE TABLE", show.child)
      case describe: DescribeRelation if describe.isExtended =>
        one("DESCRIBE EXTENDED", describe.relation)
      case describe: DescribeTablePartition if describe.isExtended =>
        one("DESCRIBE EXTENDED", describe.table)
      case describe: DescribeRelationJsonCommand => one("DESCRIBE ... AS JSON", describe.child)
      case show: ShowTablePartition => one("SHOW TABLE EXTENDED", show.table)
      case show: ShowTablesExtended =>
        tables
          .beside(TableName.of(session, namespace(show.namespace) :+ "any"))
          .find(table => StringUtils.filterPattern(Seq(table.name.name), show.pattern).nonEmpty)
          .map("SHOW TABLE EXTENDED" -> _)
      case _ => None
    }
    shown.foreach { case (words, table) =>
      val what =
        s"$words of ${table.table}, a continuous table, which tells where the server keeps its rows,"
      Admission.judged(StatementGuard.need(Scope.Admin, what, grant))
    }
  }

  /** Of no name it is the session's current one. */
  private def namespace(plan: LogicalPlan): Seq[String] = plan match {
    case named: UnresolvedNamespace => named.multipartIdentifier
    case _ => Nil
  }

  private def named(target: LogicalPlan): Option[Seq[String]] = target match {
    case relation: UnresolvedRelation => Some(relation.multipartIdentifier)
    case target: UnresolvedInsertTarget => Some(target.multipartIdentifier)
    case table: UnresolvedTable => Some(table.multipartIdentifier)
    case table: UnresolvedTableOrView => Some(table.multipartIdentifier)
    case alias: SubqueryAlias => named(alias.child)
    case _ => None
  }

  private[continuous] def refused(sentence: String): OperationFailed =
    new OperationFailed("statement", "NOT_CONTINUOUS", sentence, None)
}

/** `CREATE STREAMING TABLE n AS`, looked at by the guard as far as it is parsed. */
final class CreateContinuousTable(
    session: SparkSession,
    request: OperationRequest,
    create: CreatePipelineDatasetAsSelect
) extends ContinuousStatement {

  /** None where the table is there already, and the statement says IF NOT EXISTS. */
  override def run(): Option[RunningStream] = run(0, "")

  def start(every: Long, stream: String): RunningStream = run(every, stream).getOrElse {
    throw new OperationFailed(
      "exists",
      "TABLE_EXISTS",
      s"There is a table ${name.dotted} already, so no stream was started: read it, or take another name.",
      None
    )
  }

  private def run(every: Long, stream: String): Option[RunningStream] = {
    if (create.columns.nonEmpty)
      throw ContinuousStatement.refused(
        "A list of columns is not supported yet, because the columns are those of the query: leave it out, and name " +
          "and cast the columns in the query."
      )
    if (!name.isOfSession)
      throw ContinuousStatement.refused(
        s"A continuous table in the catalog ${name.catalog} is not supported yet, because its files lie in a folder of " +
          "the server's: make it in the catalog spark_catalog."
      )
    ContinuousTables.at(request.state).create(session, request, name, create.ifNotExists) {
      ContinuousTable.made(
        session,
        name,
        request.owner,
        if (stream.nonEmpty) stream else name.streamName,
        every,
        request.written
      )
    }
  }

  private lazy val name: TableName = create.name match {
    case named: UnresolvedIdentifier => TableName.of(session, named.nameParts)
    case other =>
      throw ContinuousStatement.refused(
        s"The name of a continuous table is written out, not as ${other.nodeName}."
      )
  }
}

/** `DROP TABLE n` of a continuous table. */
final class DropContinuousTable(
    session: SparkSession,
    tables: ContinuousTables,
    table: ContinuousTable
) extends ContinuousStatement {

  override def run(): Option[RunningStream] = {
    tables.drop(session, table)
    None
  }
}
