// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, With}

/** Writes out what an expression has once and uses several times:
  *
  * {{{
  * r.ts + 1 BETWEEN l.ts AND l.ts + 5      with c = r.ts + 1: c >= l.ts AND c <= l.ts + 5
  *                                         r.ts + 1 >= l.ts AND r.ts + 1 <= l.ts + 5
  * }}}
  *
  * Spark would make columns of it below the join, and a projection above, while the join is hidden.
  */
object SharedExpressions {
  def writtenOut(expression: Expression): Expression = expression.transformUp {
    case With(child, shared) =>
      child.transform { case use: CommonExpressionRef =>
        shared.find(_.id == use.id).fold[Expression](use)(_.child)
      }
  }
}
