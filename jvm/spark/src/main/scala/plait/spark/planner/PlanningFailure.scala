// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.control.NonFatal

/** What may go wrong while a plan is made, and leaves it as Spark would make it.
  *
  * {{{
  * catch { case PlanningFailure(e) if !settings.failsOnPlanningError => ... }
  * }}}
  *
  * A condition nested so deeply that the stack ends is one of them: Spark needs less of it for the same
  * condition, and may well plan it.
  */
private[planner] object PlanningFailure {
  def unapply(error: Throwable): Option[Throwable] = error match {
    case deep: StackOverflowError => Some(deep)
    case other => NonFatal.unapply(other)
  }
}
