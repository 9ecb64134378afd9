// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.catalog.{CatalogTable, HiveTableRelation}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** The properties of the table that a relation reads, by its name, if it reads one. */
object TableProperties {
  def of(relation: LogicalPlan): Option[(String, String => Option[String])] = relation match {
    case relation: LogicalRelation => relation.catalogTable.map(of)
    case relation: HiveTableRelation => Some(of(relation.tableMeta))
    case relation: DataSourceV2Relation =>
      Some((relation.name, key => Option(relation.table.properties.get(key))))
    case _ => None
  }

  private def of(table: CatalogTable): (String, String => Option[String]) =
    (table.identifier.unquotedString, table.properties.get)
}
