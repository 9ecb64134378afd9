// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/** What a task needs of one side.
  *
  * @param isSortedHere
  *   the rows do not come by rank
  */
final case class SidePlan(
    keys: Seq[Expression],
    ranks: Seq[Expression],
    output: Seq[Attribute],
    isSortedHere: Boolean
)
