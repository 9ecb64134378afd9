// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}

import plait.spark.plan.BoundedStream

/** The hint `BOUNDED(relation, ...)`: all rows of these streams are there when the query starts.
  *
  * {{{
  * SELECT /*+ BOUNDED(c, d) */ ...        df.hint("BOUNDED")
  * }}}
  */
object BoundedHint {
  val Name = "BOUNDED"

  def resolved(hint: UnresolvedHint): LogicalPlan =
    if (hint.parameters.nonEmpty)
      hint.parameters.foldLeft(hint.child) { (plan, parameter) =>
        val name = HintedRelations.name(parameter).getOrElse(throw wrong(hint))
        HintedRelations.changed(Name, name, plan)(BoundedStream(name.mkString("."), _))
      }
    else if (HintedRelations.isOfDataFrame(hint))
      BoundedStream(HintedRelations.nameOfWhole(hint.child), hint.child)
    else throw wrong(hint)

  private def wrong(hint: UnresolvedHint) = new IllegalArgumentException(
    "The hint BOUNDED takes the relations all of whose rows are there when the query starts, as in BOUNDED(l). It was " +
      s"${HintedRelations.written(Name, hint.parameters)}."
  )
}
