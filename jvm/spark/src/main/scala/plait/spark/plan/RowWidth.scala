// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.Attribute

/** Spark's own guess of the bytes of a row: `(k INT, ts TIMESTAMP)` has 8 + 4 + 8. */
object RowWidth {
  def of(columns: Seq[Attribute]): BigInt = columns.map(_.dataType.defaultSize.toLong).sum + 8
}
