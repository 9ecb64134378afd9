// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.catalog.{CatalogTable, HiveTableRelation}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation

import plait.spark.Spelling

/** The properties of the table that a relation reads, by its name, if it reads one. One that begins with
  * `plait.` and is none of these is an error: what it should say would not hold, and other rows would come.
  */
object TableProperties {
  val Known: Seq[String] = Seq(
    "plait.ordered-by",
    "plait.ordered-slack",
    "plait.version-time",
    "plait.version-order",
    "plait.version-key",
    "plait.version-deleted",
    "plait.watermark"
  )

  def of(relation: LogicalPlan): Option[(String, String => Option[String])] = relation match {
    case relation: LogicalRelation => relation.catalogTable.map(of)
    case relation: HiveTableRelation => Some(of(relation.tableMeta))
    case relation: DataSourceV2Relation => Some(of(relation.name, relation.table))
    case relation: StreamingRelation => relation.dataSource.catalogTable.map(of)
    case relation: StreamingRelationV2 => ofStream(relation)
    case _ => None
  }

  /** A stream of no catalog is of no table. */
  private def ofStream(relation: StreamingRelationV2): Option[(String, String => Option[String])] =
    for (catalog <- relation.catalog; table <- relation.identifier)
      yield of((catalog.name +: table.namespace :+ table.name).mkString("."), relation.table)

  private def of(name: String, table: Table): (String, String => Option[String]) = {
    val properties = table.properties.asScala
    checked(name, properties.keys)
    (name, properties.get)
  }

  private def of(table: CatalogTable): (String, String => Option[String]) = {
    val name = table.identifier.unquotedString
    checked(name, table.properties.keys)
    (name, table.properties.get)
  }

  def wrong(table: String, property: String, value: String, wanted: String): Exception =
    new IllegalArgumentException(
      s"The table property $property of $table is '$value', but must be $wanted."
    )

  /** Spark keeps capitals. */
  private def isOurs(key: String): Boolean = key.toLowerCase(Locale.ROOT).startsWith("plait.")

  private def checked(table: String, properties: Iterable[String]): Unit =
    properties.find(key => isOurs(key) && !Known.contains(key)).foreach { key =>
      throw new IllegalArgumentException(
        s"The table $table has the property $key, which is none of Plait's.${Spelling.asked(key, Known)} They are " +
          s"${Known.mkString(", ")}."
      )
    }
}
