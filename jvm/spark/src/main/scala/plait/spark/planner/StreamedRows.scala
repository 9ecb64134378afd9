// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{IsNotNull, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, QueryStageExec}

/** How many rows a plan gives where that can be known before it runs: of a whole table, or of a stage that has ended.
  *
  * {{{
  * SELECT k, t FROM points                        the rows of points, by its statistics or its size
  * SELECT k, t FROM points WHERE v < 20           None: who knows how many
  * SELECT k, max(t) FROM points GROUP BY k        None; once its shuffle is written, what that counted
  * }}}
  *
  * What it does not promise: that a size in bytes was a good guess of the rows.
  */
private[planner] object StreamedRows extends PredicateHelper {
  def of(plan: LogicalPlan): Option[BigInt] = plan match {
    case LogicalQueryStage(_, stage: QueryStageExec) if stage.isMaterialized =>
      stage.getRuntimeStatistics.rowCount
    // A stage that has not ended, or what is computed of one.
    case LogicalQueryStage(logical, _) => of(logical)
    case Project(_, child) => of(child)
    case Filter(condition, child)
        if splitConjunctivePredicates(condition).forall(_.isInstanceOf[IsNotNull]) =>
      of(child)
    case leaf: LeafNode => JoinToPlan.rows(leaf)
    case _ => None
  }
}
