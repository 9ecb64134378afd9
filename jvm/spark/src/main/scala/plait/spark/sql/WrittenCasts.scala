// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}

/** Casts that the user has written as calls: `int(s)` becomes a cast, and the user's own, but Spark marks only
  * those that are written as one.
  */
private[sql] object WrittenCasts {
  def mark(written: Expression): Unit = written.foreach {
    case call: UnresolvedFunction => call.setTagValue(Cast.USER_SPECIFIED_CAST, ())
    case _ =>
  }
}
