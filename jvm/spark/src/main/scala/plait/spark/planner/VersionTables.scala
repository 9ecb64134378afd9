// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf

import plait.spark.PlaitConf
import plait.spark.plan.{SystemTime, VersionTable}

/** The versions that tables declare of themselves, where they are looked up `FOR SYSTEM_TIME AS OF`:
  *
  * {{{
  * ALTER TABLE rates SET TBLPROPERTIES ('plait.version-time' = 'valid_from', 'plait.version-order' = 'seq',
  *     'plait.version-key' = 'currency', 'plait.version-deleted' = "op = '-D'")
  * }}}
  *
  * A hint on the table in a query goes before its properties. They hold in a view or a query that selects
  * from the table, too.
  */
object VersionTables extends Rule[LogicalPlan] {
  private val Time = "plait.version-time"
  private val Order = "plait.version-order"
  private val Key = "plait.version-key"
  private val Deleted = "plait.version-deleted"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!PlaitConf(SQLConf.get).enabled) plan
    else
      plan.resolveOperatorsUp {
        case join @ Join(_, right, _, Some(condition), _)
            if join.childrenResolved && condition.exists(_.isInstanceOf[SystemTime]) =>
          join.copy(right = declared(right))
      }

  /** The relation under the right side of a join, with what its table says. */
  private[planner] def declared(plan: LogicalPlan): LogicalPlan = plan match {
    // A hint stands above the name of a table: what stands directly on the table came from here.
    case VersionTable(_, _, _, _, _, table) if TableProperties.of(table).isDefined => plan
    case _: VersionTable | _: Project => plan.mapChildren(declared)
    case _ if SaidVersions.keepsRows(plan) => plan.mapChildren(declared)
    case relation =>
      TableProperties.of(relation).fold(plan) { case (table, property) =>
        said(table, property, relation)
      }
  }

  private def said(
      table: String,
      property: String => Option[String],
      relation: LogicalPlan
  ): LogicalPlan = {
    def read[A](key: String, wanted: String)(parse: String => Option[A]): Option[A] =
      property(key).map(text => parse(text).getOrElse(throw wrong(table, key, text, wanted)))
    val since = read(Time, "a column or an expression")(VersionHint.expression)
    val ties = read(Order, "orders, as 'seq DESC'")(DeclaredOrder.orders)
    val keys = read(Key, "columns")(VersionHint.expressions)
    val deleted = read(Deleted, "a condition")(VersionHint.expression)
    if (Seq(since, ties, keys, deleted).forall(_.isEmpty)) relation
    else VersionTable(since, ties.getOrElse(Nil), keys.getOrElse(Nil), deleted, Nil, relation)
  }

  private def wrong(table: String, property: String, value: String, wanted: String) =
    new IllegalArgumentException(
      s"The table property $property of $table is '$value', but must be $wanted."
    )
}
