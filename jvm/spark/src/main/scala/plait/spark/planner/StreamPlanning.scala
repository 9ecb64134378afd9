// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.internal.Logging
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf

import plait.order.WhyNot
import plait.spark.PlaitConf
import plait.spark.plan.ClauseError

/** Says in a sentence that a join of streams could not be planned.
  *
  * A batch join is left to Spark then. Of streams nobody would notice that the other join keeps rows for ever, and
  * a checkpoint cannot change from one to the other; so the user is to say it.
  */
object StreamPlanning extends Logging {

  /** @param join
    *   where the sentence points to
    */
  def of[A](join: LogicalPlan)(planned: => A): A = {
    val failsOnError = PlaitConf(SQLConf.get).failsOnPlanningError
    try planned
    catch {
      // It says already what the user has to know.
      case told: AnalysisException => throw told
      case PlanningFailure(e) if !failsOnError =>
        val why = WhyNot.StreamNotPlanned(e.toString)
        logWarning("Plait failed to plan a join of streams", e)
        throw ClauseError(s"This join of streams cannot run: $why", join.origin)
    }
  }
}
