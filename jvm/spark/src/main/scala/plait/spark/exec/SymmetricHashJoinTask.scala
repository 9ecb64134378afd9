// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.plait.PlanResources

import plait.join.Leaving
import plait.spark.RadixJoinChoice
import plait.spark.side._
import plait.{BySide, Side}

/** What one task of a join does: decides which way to go.
  *
  * {{{
  * both sides would be sorted here
  *   both are known to come by key                               JoinByKey, as they come
  *   all rows lie in memory, and few share a key                 JoinByBucket
  * else                                                          JoinByRank
  * }}}
  *
  * @param below
  *   its inputs, as far as they hold something that it may give back
  */
final class SymmetricHashJoinTask(spec: JoinSpec, below: Seq[SparkPlan] = Nil)
    extends Serializable {

  def join(inputs: BySide[Iterator[InternalRow]]): JoinedPairs = {
    val run = new JoinRun(spec)
    run.ending.is(() => run.release())
    val ranked = new JoinByRank(run)
    def byRank = ranked.pairs(BySide.make { side =>
      run.sorts(side).fold(RowsByRank.asTheyCome(inputs(side)))(_.sorted(inputs(side)))
    })
    lazy val inBuckets = new JoinByBucket(run)
    def ofStored = inBuckets.pairs.getOrElse(byRank)
    spec.sequence match {
      case KeySequence.Known =>
        new JoinByKey(inputs, run, () => ofStored, () => PlanResources.giveBack(below)).pairs
      case KeySequence.Unknown if mayGoByBucket =>
        new PairsDecidedLate(() => if (fill(inputs, run.sorts.map(_.get))) ofStored else byRank)
      case KeySequence.Unknown => byRank
    }
  }

  private def mayGoByBucket: Boolean =
    spec.radix != RadixJoinChoice.Never && spec.trace.isEmpty &&
      spec.sides.left.keys.nonEmpty && Side.both.forall(spec.sides(_).isSortedHere)

  /** Reads both sides, but the right one only if it can give a row.
    * @return whether both were read
    */
  private def fill(inputs: BySide[Iterator[InternalRow]], sorts: BySide[RankSort]): Boolean = {
    sorts.left.fill(inputs.left, Some(watch(Side.Left)))
    val isWanted = !(sorts.left.isEmpty && (spec.roles.right.leaves eq Leaving.Silently))
    // One side alone does not help.
    if (isWanted) sorts.right.fill(inputs.right, sorts.left.inRuns.map(_ => watch(Side.Right)))
    isWanted
  }

  /** Whether to see if a side comes by key: not in a join that is likely to have too few rows to use it. */
  private def watch(side: Side): RunsSeen.Watch = RunsSeen.Watch(
    spec.keyForm(side),
    after = if (spec.radix == RadixJoinChoice.Always) 0 else SymmetricHashJoinTask.FirstRows
  )
}

object SymmetricHashJoinTask {

  /** So many rows of a side have come before their keys are looked at. */
  private val FirstRows = 1024
}
