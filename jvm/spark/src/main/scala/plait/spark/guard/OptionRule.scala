// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedFunction,
  UnresolvedInsertTarget,
  UnresolvedRelation
}
import org.apache.spark.sql.catalyst.expressions.{
  CsvToStructs,
  Expression,
  JsonToStructs,
  Literal,
  SchemaOfCsv,
  SchemaOfJson,
  SchemaOfXml,
  StructsToCsv,
  StructsToJson,
  StructsToXml,
  XmlToStructs
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.command.AlterTableSetPropertiesCommand
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The options of tables, files and functions: only listed keys, for Spark hands options on to Hadoop, where
  * some name classes.
  *
  * {{{
  * SELECT * FROM t WITH ('header' = 'true')                              listed
  * SELECT * FROM t WITH ('parquet.crypto.factory.class' = 'a.B')         not listed
  * from_xml(x, s, map('rowValidationXSDPath', '/etc/passwd'))            not listed
  * }}}
  *
  *   1. Keys are compared in lower case. A value may be anything, but for `compression`, which may name a class.
  *   1. `path` is an option of a table or a view that is made, and of nothing else: beside a name it would send
  *      the name elsewhere. Those who take it hand the others on, and [[SourceRule]] looks at it.
  *   1. The options of a function are written as `map('key', 'value')`, so that they can be read.
  *   1. Table properties are the user's own words, but for those that Spark or Hadoop reads.
  */
private[guard] object OptionRule extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case relation: UnresolvedRelation => checkAll(written(relation.options), at)
    case target: UnresolvedInsertTarget => checkAll(written(target.options), at)
    case list: OptionList =>
      list.options.foreach { case (key, v) => if (!isPath(key)) checkOption(key, text(v), at) }
    case cache: CacheTable => checkAll(cache.options, at)
    case cache: CacheTableAsSelect => checkAll(cache.options, at)
    case set: SetTableProperties => checkProperties(set.properties, at)
    case set: SetViewProperties => checkProperties(set.properties, at)
    case set: AlterTableSetPropertiesCommand => checkProperties(set.properties, at)
    case call: UnresolvedFunction => checkCall(call, at)
    case expression: Expression => held(expression).foreach(checkAll(_, at))
    case _ =>
  }

  /** Spark notes among the options what a statement wants to do with a table. */
  private def written(options: CaseInsensitiveStringMap): Map[String, String] =
    options.asScala.toMap - UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES.toLowerCase(Locale.ROOT)

  def checkAll(options: Map[String, String], at: Origin): Unit =
    options.foreach { case (key, value) => checkOption(key, Some(value), at) }

  def checkProperties(properties: Map[String, String], at: Origin): Unit =
    properties.foreach { case (key, value) =>
      val known = key.toLowerCase(Locale.ROOT)
      if (known.startsWith("option.")) checkOption(known.stripPrefix("option."), Some(value), at)
      else if (ReadByOthers.exists(known.startsWith) && !Compressions.contains(known))
        refuse(
          StatementRefused.Option,
          s"The table property $key is not the client's to set: Spark or Hadoop reads it.",
          at
        )
    }

  def isPath(key: String): Boolean = key.equalsIgnoreCase("path")

  private def checkOption(key: String, value: Option[String], at: Origin): Unit = {
    val known = key.toLowerCase(Locale.ROOT)
    if (isPath(known))
      refuse(
        StatementRefused.Option,
        "The option path is not allowed here. Files go by name, as in csv.`/data/open/a.csv`, and a table that is " +
          "made says its LOCATION.",
        at
      )
    if (!AllowList.options.contains(known))
      refuse(
        StatementRefused.Option,
        s"The option $key is not among those that a client may give, such as header, sep, mode and multiLine.",
        at
      )
    if (known == "compression" && !value.map(_.toLowerCase(Locale.ROOT)).exists(Codecs.contains))
      refuse(
        StatementRefused.Option,
        s"A compression is one of ${Codecs.mkString(", ")}, not ${value.getOrElse("an expression")}.",
        at
      )
  }

  private def checkCall(call: UnresolvedFunction, at: Origin): Unit =
    WithOptions.get(call.nameParts.last.toLowerCase(Locale.ROOT)).foreach { position =>
      call.arguments.drop(position).foreach {
        case UnresolvedFunction(Seq(name), entries, _, _, _, _, _)
            if name.equalsIgnoreCase("map") =>
          entries.grouped(2).foreach(entry => checkEntry(entry.head, at))
        case other => refuseUnread(other.sql, at)
      }
    }

  private def checkEntry(key: Expression, at: Origin): Unit =
    checkOption(text(key).getOrElse(refuseUnread(key.sql, at)), Some("none"), at)

  private def refuseUnread(sql: String, at: Origin): Nothing =
    refuse(
      StatementRefused.Option,
      s"The options of a function are written as map('key', 'value'), not as $sql.",
      at
    )

  private def text(expression: Expression): Option[String] = expression match {
    case Literal(value, _) if value != null => Some(value.toString)
    case _ => None
  }

  /** The options that an analysed function holds. */
  private def held(expression: Expression): Option[Map[String, String]] = expression match {
    case f: CsvToStructs => Some(f.options)
    case f: JsonToStructs => Some(f.options)
    case f: XmlToStructs => Some(f.options)
    case f: StructsToCsv => Some(f.options)
    case f: StructsToJson => Some(f.options)
    case f: StructsToXml => Some(f.options)
    case f: SchemaOfCsv => Some(f.options)
    case f: SchemaOfJson => Some(f.options)
    case f: SchemaOfXml => Some(f.options)
    case _ => None
  }

  /** Functions and the position of their options. */
  private val WithOptions = Map(
    "from_avro" -> 2,
    "from_csv" -> 2,
    "from_json" -> 2,
    "from_xml" -> 2,
    "schema_of_avro" -> 1,
    "schema_of_csv" -> 1,
    "schema_of_json" -> 1,
    "schema_of_xml" -> 1,
    "to_csv" -> 1,
    "to_json" -> 1,
    "to_xml" -> 1
  )

  private val Codecs = Seq(
    "none",
    "uncompressed",
    "snappy",
    "gzip",
    "lz4",
    "lz4_raw",
    "zstd",
    "zstandard",
    "bzip2",
    "deflate",
    "zlib",
    "brotli",
    "xz",
    "lzo"
  )

  private val Compressions = Set("parquet.compression", "orc.compress")

  /** How the names of properties begin that are no words of the user's. */
  private val ReadByOthers = Seq(
    "avro.",
    "fs.",
    "hadoop.",
    "hive.",
    "io.",
    "location",
    "mapred",
    "orc.",
    "parquet.",
    "path",
    "provider",
    "serialization.",
    "spark.",
    "view."
  )
}
