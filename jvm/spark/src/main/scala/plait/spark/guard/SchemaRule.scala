// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.datasources.CreateTempViewUsing
import org.apache.spark.sql.types._

/** Schemas that a query hands to `from_json` and its like: a field may carry the text of a default, which
  * Spark parses and evaluates later, where nothing is looked at any more.
  *
  * {{{
  * from_json(x, 'a INT')                                                         no default
  * from_json(x, '{"type": "struct", "fields": [... "metadata": {"EXISTS_DEFAULT": "..."}]}')      refused
  * from_json(x, concat('a ', 'INT'))                                             refused: not a text
  * from_json(x, schema_of_json('{"a": 1}'))                                      made by Spark
  * }}}
  */
private[guard] object SchemaRule extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case call: UnresolvedFunction if takesSchema(call) =>
      call.arguments.drop(1).headOption.foreach(checkWritten(_, at))
    case f: JsonToStructs => checkType(f.schema, at)
    case f: CsvToStructs => checkType(f.schema, at)
    case f: XmlToStructs => checkType(f.schema, at)
    case view: CreateTempViewUsing => view.userSpecifiedSchema.foreach(checkType(_, at))
    case _ =>
  }

  private def takesSchema(call: UnresolvedFunction): Boolean =
    Set("from_json", "from_csv", "from_xml").contains(call.nameParts.last.toLowerCase(Locale.ROOT))

  private def checkWritten(schema: Expression, at: Origin): Unit = schema match {
    case Literal(text, _: StringType) if text != null =>
      readings(text.toString).foreach(checkType(_, at))
    case call: UnresolvedFunction
        if call.nameParts.last.toLowerCase(Locale.ROOT).startsWith("schema_of_") =>
    case other =>
      refuse(
        StatementRefused.Function,
        s"The schema is written as a text or given by schema_of_json and its like, not by ${other.sql}.",
        at
      )
  }

  /** A text is a type in SQL or in JSON; what is neither is Spark's to refuse. */
  private def readings(text: String): Seq[DataType] =
    Seq(Try(DataType.fromDDL(text)), Try(DataType.fromJson(text))).flatMap(_.toOption)

  private def checkType(schema: DataType, at: Origin): Unit = schema match {
    case StructType(fields) =>
      fields.foreach { field =>
        if (Defaults.exists(field.metadata.contains)) refuseDefault(field.name, at)
        checkType(field.dataType, at)
      }
    case ArrayType(element, _) => checkType(element, at)
    case MapType(key, value, _) =>
      checkType(key, at)
      checkType(value, at)
    case _ =>
  }

  private def refuseDefault(field: String, at: Origin): Nothing =
    refuse(
      StatementRefused.Function,
      s"The field $field of a schema carries a default. Write coalesce() around the field instead.",
      at
    )

  private val Defaults = Seq("CURRENT_DEFAULT", "EXISTS_DEFAULT")
}
