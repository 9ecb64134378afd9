// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.catalog.{CatalogTable, HiveTableRelation}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

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
    case relation: DataSourceV2Relation =>
      val properties = relation.table.properties.asScala
      checked(relation.name, properties.keys)
      Some((relation.name, properties.get))
    case _ => None
  }

  private def of(table: CatalogTable): (String, String => Option[String]) = {
    val name = table.identifier.unquotedString
    checked(name, table.properties.keys)
    (name, table.properties.get)
  }

  private def checked(table: String, properties: Iterable[String]): Unit =
    properties.find(key => key.startsWith("plait.") && !Known.contains(key)).foreach { key =>
      throw new IllegalArgumentException(
        s"The table $table has the property $key, which is none of Plait's.${Spelling.asked(key, Known)} They are " +
          s"${Known.mkString(", ")}."
      )
    }
}
