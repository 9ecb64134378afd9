// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.{ClauseError, SystemTime}

/** Says what was meant, where `PROCTIME()` is spelled otherwise and no side of its join has a column of that name:
  *
  * {{{
  * FOR SYSTEM_TIME AS OF PROCTIME          FOR SYSTEM_TIME AS OF now
  * }}}
  */
object MissingProctime extends Rule[LogicalPlan] {
  private val Words = Set("PROCTIME", "PROC_TIME", "NOW")

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!plan.resolved) plan.foreach {
      case join: Join if join.childrenResolved =>
        join.condition.foreach(_.foreach {
          case time: SystemTime => time.time.flatMap(wordOf).foreach(w => throw meant(w, time))
          case _ => ()
        })
      case _ => ()
    }
    plan
  }

  private def wordOf(time: Expression): Option[String] = time match {
    case UnresolvedAttribute(Seq(name)) if Words(name.toUpperCase(Locale.ROOT)) => Some(name)
    case _ => None
  }

  private def meant(word: String, time: SystemTime) = ClauseError(
    s"$word is no column of the left side. The newest version is that AS OF PROCTIME(), with its parentheses",
    time.origin
  )
}
