// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogUtils}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, MetadataAttribute}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttribute
import org.apache.spark.sql.catalyst.util.{CaseInsensitiveMap, CharVarcharUtils}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FileTable}
import org.apache.spark.sql.execution.streaming.runtime.MetadataLogFileIndex
import org.apache.spark.sql.internal.SQLConf

import plait.spark.plan.ClauseError

/** Relations of files with the lists of their files made anew, and with the columns that they had.
  *
  * {{{
  * rates                       the files of the folder that the catalog names now
  * parquet.`/data/rates`       the files of the folder
  * parquet.`/data/r*`          those of the folders that match now
  * }}}
  *
  *   1. Spark makes its list when a query is analysed, and that is once in the life of a stream.
  *   1. The files of one folder are listed once, however many relations read them.
  *   1. A table format that keeps its own list (Delta) knows what is new.
  *   1. A folder or a table that is gone is an error, and so is a column that is gone or has another type.
  *
  * @param relations
  *   those of which the lists are made
  */
final class FreshFiles(session: SparkSession, relations: Seq[LogicalRelation]) {
  import FreshFiles._

  private val listed = mutable.HashMap.empty[HadoopFsRelation, Listed]

  relations.foreach { relation =>
    relation.relation match {
      case files: HadoopFsRelation if isList(files) =>
        val _ = listed.getOrElseUpdate(files, list(relation, files))
      case files: HadoopFsRelation => files.location.refresh()
      case _ => ()
    }
  }

  /** The relation with the new list of its files, if there is one. A plan must not hold the old one beside
    * it: to Spark they are equal, and the result of one would be taken for that of the other.
    */
  def of(relation: LogicalRelation): LogicalPlan = relation.relation match {
    case files: HadoopFsRelation if !relation.isStreaming =>
      listed.get(files).fold[LogicalPlan](relation)(withColumns(relation, _))
    case _ => relation
  }

  private def list(relation: LogicalRelation, files: HadoopFsRelation): Listed = {
    val table = relation.catalogTable.map { known =>
      session.sessionState.catalog.getTableMetadata(known.identifier)
    }
    val place = table.flatMap(_.storage.locationUri).map(CatalogUtils.URIToString)
    val options = CaseInsensitiveMap(files.options)
    val source = DataSource(
      session,
      className = files.fileFormat.getClass.getName,
      paths = if (place.isDefined) Nil else paths(relation, files).toSeq.flatten,
      userSpecifiedSchema = Some(table.map(_.schema).filter(_.nonEmpty).getOrElse(files.schema)),
      partitionColumns = table.fold(Seq.empty[String])(_.partitionColumnNames),
      bucketSpec = files.bucketSpec,
      options = place.fold(options)(uri => options + (PathOption -> uri)),
      catalogTable = table
    )
    source.resolveRelation(checkFilesExist = table.isEmpty) match {
      case now: HadoopFsRelation => Listed(now.copy(fileFormat = files.fileFormat)(session), table)
      case other => throw new IllegalStateException(s"$source has no files, but is $other")
    }
  }
}

object FreshFiles {
  private val PathOption = "path"

  final private case class Listed(files: HadoopFsRelation, table: Option[CatalogTable])

  /** Why the list of a relation's files cannot be made anew. */
  def whyNot(plan: LogicalPlan): Option[String] = plan match {
    case relation: LogicalRelation =>
      relation.relation match {
        case files: HadoopFsRelation
            if isList(files) && relation.catalogTable.isEmpty && paths(relation, files).isEmpty =>
          Some(
            "A stream is not supported beside files of which it is not known by what path or pattern they were read " +
              "(several paths at once), because new ones would be missed: read them by one path or pattern, or as a table"
          )
        case _ => None
      }
    case table: DataSourceV2Relation if table.table.isInstanceOf[FileTable] =>
      Some(
        s"A stream is not supported beside ${table.table.name} while Spark reads it by its second interface, because that " +
          s"keeps its first list of the files: put the format into ${SQLConf.USE_V1_SOURCE_LIST.key}"
      )
    case _ => None
  }

  /** A list that Spark makes once, and only this once. */
  private def isList(files: HadoopFsRelation): Boolean =
    Set[Class[_]](
      classOf[InMemoryFileIndex],
      classOf[CatalogFileIndex],
      classOf[MetadataLogFileIndex]
    ).contains(files.location.getClass)

  /** The paths to list beside that in the options, if it is known how they were written: the list holds
    * only what a pattern matched.
    */
  private def paths(relation: LogicalRelation, files: HadoopFsRelation): Option[Seq[String]] =
    if (CaseInsensitiveMap(files.options).contains(PathOption)) Some(Nil)
    else written(relation).map(Seq(_))

  /** The path of {{{parquet.`path`}}}, as it stands in the query. */
  private def written(relation: LogicalRelation): Option[String] = {
    val origin = relation.origin
    for {
      text <- origin.sqlText
      start <- origin.startIndex
      stop <- origin.stopIndex
      name <- Try(CatalystSqlParser.parseMultipartIdentifier(text.slice(start, stop + 1))).toOption
      if name.sizeIs == 2
    } yield name.last
  }

  private def withColumns(relation: LogicalRelation, now: Listed): LogicalPlan = {
    val had = relation.output.filterNot(column => MetadataAttribute.isValid(column.metadata))
    val isSameName = SQLConf.get.resolver
    val columns =
      CharVarcharUtils.replaceCharVarcharWithStringInSchema(now.files.schema).map { field =>
        had
          .find(c =>
            isSameName(c.name, field.name) && DataTypeUtils.sameType(c.dataType, field.dataType)
          )
          .getOrElse(toAttribute(field))
      }
    had.find(!columns.contains(_)).foreach(column => throw gone(column, relation, now))
    val read = relation.copy(
      relation = now.files,
      output = columns ++ relation.output.filterNot(had.contains),
      catalogTable = now.table
    )
    // Relations are equal if their paths are, and Spark keeps the old one of two that are equal.
    if (read.output == relation.output) SubqueryAlias("anew", read)
    else Project(relation.output, read)
  }

  private def gone(column: AttributeReference, relation: LogicalRelation, now: Listed) = {
    val name =
      now.table.fold(now.files.location.rootPaths.mkString(", "))(_.identifier.unquotedString)
    ClauseError(
      s"The columns of $name have changed while it is joined with a stream: ${column.name} of the type " +
        s"${column.dataType.sql} is gone. Begin the query anew",
      relation.origin
    )
  }
}
