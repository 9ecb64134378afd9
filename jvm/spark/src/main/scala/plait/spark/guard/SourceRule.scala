// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, CatalogTable}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.command._
import org.apache.spark.sql.execution.datasources.{
  CreateTable => CreateSourceTable,
  CreateTempViewUsing
}

/** What a statement says of data sources: their formats, their options, and the folders where it wants to read
  * or write.
  *
  * {{{
  * CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/data/open/a.csv')       if the grant has /data/open
  * CREATE TABLE t (a INT) USING jdbc OPTIONS (url '...')                     no: not a format of files
  * CREATE TABLE t (a INT) USING parquet LOCATION '/data/open/t'              if the grant has /data/open
  * }}}
  *
  *   1. The formats are parquet, orc, csv, json, text and avro. All other sources open connections, run
  *      code or are made for tests; tables of them may be in the catalog, where the operator has put them.
  *   1. A path that a statement names lies in a folder of the grant. Where a table of the catalog lies is the
  *      catalog's business.
  *   1. Hive's classes of rows and files (SERDE, INPUTFORMAT) are refused.
  */
final private[guard] class SourceRule(folders: Folders, grant: Grant) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case spec: TableSpecBase => checkTable(spec, at)
    case view: CreateTempViewUsing => checkSource(Some(view.provider), view.options, at)
    case storage: CatalogStorageFormat => checkStorage(storage, at)
    case serde: SerdeInfo => checkSerde(serde, at)
    case dir: InsertIntoDir => checkFormat(dir.provider, at)
    case dir: InsertIntoDataSourceDirCommand => checkFormat(Some(dir.provider), at)
    case create: CreateSourceTable => checkNew(create.tableDesc, at)
    case create: CreateTableCommand => checkNew(create.table, at)
    case create: CreateDataSourceTableCommand => checkNew(create.table, at)
    case create: CreateDataSourceTableAsSelectCommand => checkNew(create.table, at)
    case like: CreateTableLike => checkLike(like, at)
    case like: CreateTableLikeCommand => checkFormat(like.provider, at)
    case load: LoadData => checkLoad(load.path, load.isLocal, at)
    case load: LoadDataCommand => checkLoad(load.path, load.isLocal, at)
    case other => locations(other).foreach(checkPath(_, at))
  }

  def checkPath(path: String, at: Origin): Unit =
    if (!folders.opens(path))
      refuse(
        StatementRefused.Path,
        s"The path $path is not allowed. A statement may name absolute paths in ${shown(grant.folders)}; " +
          "tables of the catalog go by name.",
        at
      )

  def checkFormat(provider: Option[String], at: Origin): Unit = provider.foreach { name =>
    if (!SourceRule.isFormat(name))
      refuse(
        StatementRefused.Format,
        s"The data source $name is not allowed. The formats are ${SourceRule.Formats.mkString(", ")}.",
        at
      )
  }

  private def checkSource(
      provider: Option[String],
      options: Map[String, String],
      at: Origin
  ): Unit = {
    checkFormat(provider, at)
    val (paths, others) = options.partition { case (key, _) => OptionRule.isPath(key) }
    OptionRule.checkAll(others, at)
    paths.values.foreach(checkPath(_, at))
  }

  private def checkTable(spec: TableSpecBase, at: Origin): Unit = {
    checkFormat(spec.provider, at)
    spec.location.foreach(checkPath(_, at))
    OptionRule.checkProperties(spec.properties, at)
    spec match {
      case unresolved: UnresolvedTableSpec =>
        unresolved.optionExpression.options.foreach(checkWritten(_, at))
      case resolved: TableSpec => checkSource(None, resolved.options, at)
      case other => refuse(StatementRefused.Statement, s"$other is not known.", at)
    }
  }

  /** Of an option that is still an expression. */
  private def checkWritten(option: (String, Expression), at: Origin): Unit = option match {
    case (key, Literal(path, _)) if OptionRule.isPath(key) => checkPath(String.valueOf(path), at)
    case (key, _) if OptionRule.isPath(key) =>
      val sentence = "The option path is written as a text, not as an expression."
      refuse(StatementRefused.Path, sentence, at)
    case _ =>
  }

  private def checkNew(table: CatalogTable, at: Origin): Unit = {
    checkFormat(table.provider.filterNot(_ == SourceRule.Hive), at)
    OptionRule.checkProperties(table.properties, at)
    checkStorage(table.storage, at)
  }

  private def checkStorage(storage: CatalogStorageFormat, at: Origin): Unit = {
    storage.locationUri.foreach(uri => checkPath(new Path(uri).toString, at))
    checkSource(None, storage.properties, at)
  }

  private def checkLike(like: CreateTableLike, at: Origin): Unit = {
    like.location.foreach(checkPath(_, at))
    checkFormat(like.provider, at)
    OptionRule.checkProperties(like.properties, at)
  }

  private def checkSerde(serde: SerdeInfo, at: Origin): Unit = {
    if (serde.serde.isDefined || serde.formatClasses.isDefined)
      refuse(
        StatementRefused.Format,
        "SERDE, INPUTFORMAT and OUTPUTFORMAT name classes. Name a format instead: USING parquet.",
        at
      )
    checkFormat(serde.storedAs.map(_.toLowerCase(Locale.ROOT)).filterNot(_ == "textfile"), at)
    OptionRule.checkAll(serde.serdeProperties, at)
  }

  private def checkLoad(path: String, isLocal: Boolean, at: Origin): Unit =
    checkPath(if (isLocal && path.startsWith("/")) s"file:$path" else path, at)

  private def locations(value: Any): Seq[String] = value match {
    case set: SetTableLocation => Seq(set.location)
    case set: AlterTableSetLocationCommand => Seq(set.location)
    case set: SetNamespaceLocation => Seq(set.location)
    case set: AlterDatabaseSetLocationCommand => Seq(set.location)
    case set: SetNamespaceProperties => atLocation(set.properties)
    case create: CreateNamespace => atLocation(create.properties)
    case create: CreateDatabaseCommand => create.path.toSeq
    case partition: UnresolvedPartitionSpec => partition.location.toSeq
    case partition: ResolvedPartitionSpec => partition.location.toSeq
    case add: AlterTableAddPartitionCommand => add.partitionSpecsAndLocs.flatMap(_._2)
    case _ => Nil
  }

  private def atLocation(properties: Map[String, String]): Seq[String] =
    properties.collect { case (key, path) if key.equalsIgnoreCase("location") => path }.toSeq

  private def shown(paths: Seq[String]): String =
    if (paths.isEmpty) "no folder: the server has opened none" else paths.mkString(", ")
}

private[guard] object SourceRule {
  val Formats: Seq[String] = Seq("parquet", "orc", "csv", "json", "text", "avro")

  private val Hive = "hive"

  def isFormat(name: String): Boolean = Formats.contains(name.toLowerCase(Locale.ROOT))
}
