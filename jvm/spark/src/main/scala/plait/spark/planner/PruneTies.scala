// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.plans.{FullOuter, LeftAnti, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.AsOfJoin

/** Forgets columns that decide among rows which nobody can tell apart: those behind the last one that is
  * used of the picked row. Spark then does not read them.
  *
  * {{{
  * SELECT l.k, r.bid, right (ts, bid, ask, venue)       ties by bid; ask and venue are not read
  * SELECT l.k, r.venue                                  ties by bid, ask, venue: they decide which venue
  * LEFT SEMI                                            no ties, and nothing of the right side but ts and keys
  * }}}
  */
object PruneTies extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case project @ Project(_, join: AsOfJoin) =>
      val few = pruned(join, project.references)
      if (few eq join) project else project.copy(child = few)
    case project @ Project(_, filter @ Filter(_, join: AsOfJoin)) =>
      val few = pruned(join, project.references ++ filter.references)
      if (few eq join) project else project.copy(child = filter.copy(child = few))
    case join: AsOfJoin if join.joinType == LeftSemi || join.joinType == LeftAnti =>
      narrowed(pruned(join, AttributeSet.empty))
  }

  /** Which of two rows is picked first decides how many nobody picks, where a condition tells them apart. */
  private def decisive(join: AsOfJoin): Seq[Expression] = join.joinType match {
    case RightOuter | FullOuter => join.condition.toSeq
    case _ => Nil
  }

  private def pruned(join: AsOfJoin, used: AttributeSet): AsOfJoin = {
    val seen = used ++ AttributeSet(join.check.toSeq ++ decisive(join))
    val (distinctions, orders) = join.best.ties.partition(Distinction.isOne)
    val told = AttributeSet(join.best.right +: orders)
    // A column without an order decides little, but shows which row was picked.
    val all = (seen -- told).exists(join.right.outputSet.contains)
    def isSeen(tie: SortOrder) = tie.references.exists(seen.contains)
    val last = if (all) orders.size - 1 else orders.lastIndexWhere(isSeen)
    val kept = orders.take(last + 1) ++ distinctions.filter(isSeen)
    if (kept.size == join.best.ties.size) join
    else join.copy(best = join.best.copy(ties = kept))
  }

  /** Of the right side nothing comes out: only what the join itself asks for is read. */
  private def narrowed(join: AsOfJoin): AsOfJoin = {
    val asked = join.right.output.filter(join.references.contains)
    if (asked.size == join.right.output.size) join
    else join.copy(right = Project(asked, join.right))
  }
}
