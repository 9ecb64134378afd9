// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import plait.spark.exec.{AsOfJoinExec, AsOfSpread}
import plait.spark.plan.AsOfJoin

/** Plans an [[AsOfJoin]]: dealt by the equalities of its condition; without one in the ranges that
  * [[SplitAsOfJoin]] has cut, or in one task.
  */
object AsOfJoinStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: AsOfJoin if !StreamAsOf.isOfStreams(join) =>
      val AsOfKeys(keys, rest) = AsOfKeys.of(join)
      val spread =
        if (keys.left.nonEmpty) AsOfSpread.ByKey
        else join.ranges.fold(AsOfSpread.InOneTask(_), AsOfSpread.InRanges(_))
      Seq(
        AsOfJoinExec(
          keys.left,
          keys.right,
          join.joinType,
          join.best,
          rest,
          join.check,
          spread,
          planLater(join.left),
          planLater(join.right)
        )
      )
    case _ => Nil
  }
}
