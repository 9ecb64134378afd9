// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans._

/** The columns that come out of a join of a type: those of a side that may be filled up are nullable. */
object JoinedColumns {
  def of(joinType: JoinType, left: Seq[Attribute], right: Seq[Attribute]): Seq[Attribute] = {
    def nullable(columns: Seq[Attribute]) = columns.map(_.withNullability(true))
    joinType match {
      case LeftOuter => left ++ nullable(right)
      case RightOuter => nullable(left) ++ right
      case FullOuter => nullable(left) ++ nullable(right)
      case LeftSemi | LeftAnti => left
      case existence: ExistenceJoin => left :+ existence.exists
      case _ => left ++ right
    }
  }
}
