// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement

/** Hides the joins of streams of a query that starts, or is explained, and lets their windows carry a watermark on:
  *
  * {{{
  * joined = df.join(df.alias("r"), ..., "left")    a Join, which the Dataset asks for by itself
  * joined.select(...)                              Project(the Join as analysed)
  * .writeStream.start()                            WriteToStreamStatement(Project(StreamJoinCarrier(...)))
  * }}}
  *
  * Of what is hidden already it makes nothing new.
  */
object CarryAtStart extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case statement: WriteToStreamStatement =>
      statement.copy(inputQuery = carried(statement.inputQuery))
    case other => other
  }

  def carried(query: LogicalPlan): LogicalPlan =
    if (query.isStreaming) CarryWindows(CarryStreamJoins.atStart(query)) else query
}

/** The same of a query that was not started, when it is explained. */
object CarryUnstarted extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = CarryAtStart.carried(plan)
}
