// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}

/** A cast that Spark has put in, to compare values of two types: `BIGINT = INT` casts the second. */
object ImplicitCast {
  def unapply(e: Expression): Option[Expression] = e match {
    case cast: Cast if cast.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => Some(cast.child)
    case _ => None
  }
}
