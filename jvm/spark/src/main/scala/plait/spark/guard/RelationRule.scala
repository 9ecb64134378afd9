// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import scala.util.Try

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.execution.datasources.v2.{
  DataSourceV2Relation,
  FileTable,
  StreamingDataSourceV2Relation
}
import org.apache.spark.sql.execution.streaming.runtime.{MetadataLogFileIndex, StreamingRelation}

/** What a query reads: tables of the catalog by name, and files in the folders of the grant.
  *
  * {{{
  * FROM sales.orders           a table or a view of the catalog, wherever its files lie
  * FROM csv.`/data/open/x`     files, if the grant has /data/open and the catalog has no such table
  * FROM binaryFile.`/etc`      no: not one of the formats
  * }}}
  *
  *   1. Names are looked at before the analysis, which lists the files and may read some, and what they have
  *      become after it.
  *   1. A view or a function keeps no name of two parts that is both a table's and one of files: it would be that
  *      of files when the table has gone, and nobody looks into a view again (see [[KeptRule]]).
  *   1. A table of the catalog is read and written where the catalog says; where its partitions lie is the
  *      catalog's business too, which no statement's option changes. A relation that has gone elsewhere
  *      needs a folder of the grant.
  *   1. A relation of no catalog and no files, as a view over JDBC that the operator has put into the session,
  *      is refused; put it into the catalog. Streams are the exception: SQL has no way to make one but
  *      from files and from the catalog.
  *   1. A folder that a stream has written tells itself which files are its own, in `_spark_metadata`: files of
  *      elsewhere need a folder of the grant too. A stream reads none of them.
  *   1. Time travel goes to a time that holds no query, for the analysis would run it.
  */
final private[guard] class RelationRule(session: SparkSession, sources: SourceRule) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case relation: UnresolvedRelation => checkName(relation.multipartIdentifier, at)
    case target: UnresolvedInsertTarget => checkName(target.multipartIdentifier, at)
    case table: UnresolvedTable => checkName(table.multipartIdentifier, at)
    case table: UnresolvedTableOrView => checkName(table.multipartIdentifier, at)
    case travel: RelationTimeTravel => checkTravel(travel, at)
    case LogicalRelation(files: HadoopFsRelation, _, Some(table), _, _) =>
      checkPlaces(table, files.location.rootPaths, at)
    case relation: LogicalRelation if relation.catalogTable.isEmpty =>
      checkFiles(relation.relation, at)
    case relation: DataSourceV2Relation if relation.identifier.isEmpty =>
      checkTable(relation.table, at)
    case write: InsertIntoHadoopFsRelationCommand =>
      write.catalogTable match {
        case Some(table) => checkPlaces(table, Seq(write.outputPath), at)
        case None => sources.checkPath(write.outputPath.toString, at)
      }
    case stream: StreamingRelation => checkStream(stream.dataSource, at)
    case stream: StreamingRelationV2 if stream.identifier.isEmpty =>
      checkStreamed(stream.table, at)
    case stream: StreamingDataSourceV2Relation if stream.identifier.isEmpty =>
      checkStreamed(stream.table, at)
    case _ =>
  }

  /** Spark takes a name of two parts for files if it knows no such table. */
  private def checkName(name: Seq[String], at: Origin): Unit = name match {
    case Seq(format, path) if isOfFiles(format) && !isInCatalog(name) =>
      sources.checkFormat(Some(format), at)
      sources.checkPath(path, at)
    case _ =>
  }

  /** Of a name that a view or a function keeps. */
  def checkKept(name: Seq[String], at: Origin): Unit = name match {
    case Seq(format, _) if isOfFiles(format) && isInCatalog(name) =>
      val written = name.map(QuotedName.of).mkString(".")
      refuse(
        StatementRefused.Name,
        s"The name $written would mean files of the format $format when its table has gone, and a view or a " +
          s"function keeps its names. Write the catalog before it, as in spark_catalog.$written.",
        at
      )
    case _ =>
  }

  private def isOfFiles(format: String): Boolean =
    SourceRule.isFormat(format) ||
      Try(DataSource.lookupDataSource(format, session.sessionState.conf)).isSuccess

  private def isInCatalog(name: Seq[String]): Boolean =
    session.catalog.tableExists(name.map(QuotedName.of).mkString("."))

  private def checkTravel(travel: RelationTimeTravel, at: Origin): Unit =
    if (travel.timestamp.exists(_.exists(_.isInstanceOf[SubqueryExpression])))
      refuse(
        StatementRefused.Statement,
        "The time of AS OF is not a query, which would run before the statement does. Give it as a parameter.",
        at
      )

  private def checkFiles(relation: Any, at: Origin): Unit = relation match {
    case files: HadoopFsRelation => checkIndex(files.location, at)
    case other => refuseSource(other.getClass.getSimpleName, at)
  }

  private def checkTable(table: Table, at: Origin): Unit = table match {
    case files: FileTable => checkIndex(files.fileIndex, at)
    case other => refuseSource(other.name, at)
  }

  private def checkIndex(index: FileIndex, at: Origin): Unit = {
    index.rootPaths.foreach(path => sources.checkPath(path.toString, at))
    index match {
      case log: MetadataLogFileIndex =>
        val roots = log.rootPaths.map(qualified)
        log
          .allFiles()
          .map(file => qualified(file.getPath))
          .filterNot(file => roots.exists(isBelow(file, _)))
          .foreach(file => sources.checkPath(file.toString, at))
      case _ =>
    }
  }

  private def isBelow(file: Path, folder: Path): Boolean =
    file.toString.startsWith(folder.toString.stripSuffix("/") + "/")

  private def checkStream(source: DataSource, at: Origin): Unit = if (isFileFormat(source)) {
    val named = source.options.collect { case (key, path) if OptionRule.isPath(key) => path }
    val paths = source.paths ++ named
    source.catalogTable match {
      case Some(table) => checkPlaces(table, paths.map(new Path(_)), at)
      case None =>
        sources.checkFormat(Some(source.className), at)
        paths.foreach(sources.checkPath(_, at))
    }
  }

  private def checkPlaces(table: CatalogTable, paths: Seq[Path], at: Origin): Unit = {
    val location = table.storage.locationUri.map(new Path(_))
    val own = location.map(qualified)
    val others = paths.filterNot(path => own.contains(qualified(path)))
    if (others.nonEmpty) {
      val found = location.toSeq.flatMap(matching).toSet
      others
        .filterNot(path => found.contains(qualified(path)))
        .foreach(path => sources.checkPath(path.toString, at))
    }
  }

  /** Spark reads a location as a pattern, where it is one. */
  private def matching(location: Path): Seq[Path] =
    Option(filesOf(location).globStatus(location)).toSeq.flatten
      .map(found => qualified(found.getPath))

  private def qualified(path: Path): Path = filesOf(path).makeQualified(path)

  // A copy of all of Hadoop's settings: one serves all relations of a statement.
  private lazy val settings = session.sessionState.newHadoopConf()

  private def filesOf(path: Path): FileSystem = path.getFileSystem(settings)

  private def isFileFormat(source: DataSource): Boolean =
    classOf[FileFormat].isAssignableFrom(source.providingClass)

  private def checkStreamed(table: Table, at: Origin): Unit = table match {
    case files: FileTable => checkTable(files, at)
    case _ => // the operator's own
  }

  private def refuseSource(name: String, at: Origin): Nothing =
    refuse(
      StatementRefused.Format,
      s"The source $name is neither a table of the catalog nor files. Make it a table of the catalog.",
      at
    )
}

private object QuotedName {
  def of(part: String): String = s"`${part.replace("`", "``")}`"
}
