// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType, LeftSemi}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.{
  AQEShuffleReadExec,
  OptimizeSkewedJoin,
  SkewJoinChildWrapper
}
import org.apache.spark.sql.execution.exchange.{EnsureRequirements, ValidateRequirements}
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec
import org.apache.spark.sql.execution.{PartialReducerPartitionSpec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

import plait.BySide
import plait.spark.PlaitConf
import plait.spark.exec.SymmetricHashJoinExec

/** Splits the partition of a hot key, so that one key does not make one task: each task reads some of
  * the files that hold the partition on one side, and the whole of it on the other.
  *
  * {{{
  * partition 2 is skewed on the left; four tasks wrote the left side, of like sizes
  *
  *   before   (L0, R0)  (L1, R1)  (L2, R2)
  *   after    (L0, R0)  (L1, R1)  (L2 of tasks 0-1, R2)  (L2 of tasks 2-3, R2)
  * }}}
  *
  * What is skewed, and into how many parts it goes, is Spark's to say: its own rule is asked about its
  * own hash join of the same two inputs (`spark.sql.adaptive.skewJoin.*`,
  * `spark.sql.adaptive.advisoryPartitionSizeInBytes`).
  *
  * Conventions:
  *   1. A side is split if each of its rows may be matched apart from the others: both of an inner
  *      join, the preserved one of an outer, semi, anti or existence join, none of FULL.
  *   1. A split that would cost another shuffle is not made, not even with
  *      `spark.sql.adaptive.forceOptimizeSkewedJoin`, whose price Spark counts for its own joins only.
  *   1. What the user's own repartition above a join has asked for, is kept.
  *
  * What it does not promise: that a hot key is split evenly, or at all. What one task wrote of a
  * partition stays together, so of a side that one task wrote, nothing is split.
  *
  * What it costs: of m parts on the left and n on the right each part is read, and sorted, by as many
  * tasks as the other side has parts. All tasks together do more; the longest does less.
  *
  * It needs the sizes of finished shuffles, and so adaptive execution. It is a rule of the preparation
  * of stages, as Spark's is, because what it does to a join changes how the join's rows are dealt.
  */
object SkewedPartitions extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (!conf.getConf(SQLConf.SKEW_JOIN_ENABLED)) plan
    else
      try joinsOf(plan).foldLeft(plan)(attempt)
      catch {
        case PlanningFailure(e) if !PlaitConf(conf).failsOnPlanningError =>
          logWarning("Plait failed to split the partitions of hot keys", e)
          plan
      }

  private def joinsOf(plan: SparkPlan): Seq[SymmetricHashJoinExec] =
    plan.collect { case join: SymmetricHashJoinExec if !join.isSplit => join }

  /** The plan with one more join split, if that keeps what every node asks for. */
  private def attempt(plan: SparkPlan, join: SymmetricHashJoinExec): SparkPlan =
    split(join) match {
      case None => plan
      case Some(replacement) =>
        val changed = plan.transform { case node if node eq join => replacement }
        if (ValidateRequirements.validate(changed, RepartitionAbove.of(join))) changed else plan
    }

  private def split(join: SymmetricHashJoinExec): Option[SymmetricHashJoinExec] =
    OptimizeSkewedJoin(EnsureRequirements()).optimizeSkewJoin(standIn(join)) match {
      case ShuffledHashJoinExec(_, _, _, _, _, Read(left), Read(right), true) =>
        Some(join.ofSplit(BySide(left, right), BySide(left, right).map(partitionsSplit)))
      case _ => None
    }

  /** Spark's join of the same inputs, never to be run. */
  private def standIn(join: SymmetricHashJoinExec): SparkPlan = ShuffledHashJoinExec(
    join.leftKeys,
    join.rightKeys,
    likeType(join.joinType),
    BuildRight,
    join.condition,
    join.left,
    join.right
  )

  /** Spark splits no existence join; one decides row by row, as a semi join does. */
  private def likeType(joinType: JoinType): JoinType = joinType match {
    case _: ExistenceJoin => LeftSemi
    case other => other
  }

  private object Read {
    def unapply(plan: SparkPlan): Option[AQEShuffleReadExec] = plan match {
      case SkewJoinChildWrapper(read: AQEShuffleReadExec) => Some(read)
      case _ => None
    }
  }

  private def partitionsSplit(read: AQEShuffleReadExec): Int =
    read.partitionSpecs
      .collect { case part: PartialReducerPartitionSpec =>
        part.reducerIndex
      }
      .distinct
      .size
}
