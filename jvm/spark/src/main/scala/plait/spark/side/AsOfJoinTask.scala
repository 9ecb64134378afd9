// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util.Comparator

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.TaskMemory

import plait.join.{AsOfCore, IndexMemory, Keeping, NearestCore}
import plait.spark.translate.{BestMatch, MatchDirection}
import plait.{BySide, Side}

/** What one task of an as-of join does: builds readers, candidates and conditions, and counts when it
  * ends.
  */
final class AsOfJoinTask(
    joinType: JoinType,
    sides: BySide[SidePlan],
    best: BestMatch,
    conditions: PairConditions.Expressions,
    metrics: Map[String, SQLMetric]
) extends Serializable {
  private def scan = MatchScan(best.direction, best.right.dataType)

  /** @param around
    *   puts rows of other ranges around those of a side, which are in order
    */
  def join(
      inputs: BySide[Iterator[InternalRow]],
      around: (Side, Iterator[InternalRow]) => HomedRows
  ): JoinedPairs = {
    val context = TaskContext.get()
    val ending = JoinEnding.of(context)
    val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
    val reading = new ReadingThread
    val stores = sides.map { s =>
      new PagedRowStore(TaskMemory.of(context), s.output.size, target, reading = reading)
    }
    val index = new TaskIndexMemory(TaskMemory.of(context))
    val compiled = PairConditions.compiled(conditions, sides.map(_.output), context)
    val sorts = sides.map(s => new RankSort(s.ranks.head, s.output, metrics, reading))
    val sorted = BySide.make { side =>
      around(side, if (sides(side).isSortedHere) sorts(side).sorted(inputs(side)) else inputs(side))
    }
    val release = () => ending.run()
    val pairs =
      if (best.direction == MatchDirection.Nearest)
        nearest(sorted, stores, index, compiled, reading, release)
      else toOneSide(sorted, stores.right, index, compiled, reading, release)
    ending.is { () =>
      metrics(JoinMetrics.OutputRows) += pairs.rowsOut
      JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), pairs.peak)
      for (side <- Side.both) {
        metrics(JoinMetrics.rowsIn(side)) += pairs.rowsIn(side)
        stores(side).clear()
        sorts(side).release()
      }
      index.clear()
    }
    pairs
  }

  private def toOneSide(
      inputs: BySide[HomedRows],
      store: PagedRowStore,
      index: IndexMemory,
      compiled: PairConditions.Tests,
      reading: ReadingThread,
      release: () => Unit
  ): AsOfPairs = new AsOfJoinPairs(
    inputs,
    readers,
    pace,
    new AsOfCore[SideReader, UnsafeRow](
      keys(index),
      store,
      precedence,
      keeping,
      roles.right.leaves,
      index
    ),
    roles,
    compiled,
    reading,
    release
  )

  private def nearest(
      inputs: BySide[HomedRows],
      stores: BySide[PagedRowStore],
      index: IndexMemory,
      compiled: PairConditions.Tests,
      reading: ReadingThread,
      release: () => Unit
  ): AsOfPairs = {
    val distance = MatchDistance.of(best, sides.map(_.output))
    val core = new NearestCore[SideReader, UnsafeRow, UnsafeRow, distance.Distance](
      keys(index),
      stores.left,
      stores.right,
      precedence,
      NearestJoinPairs.pairing(distance, AtEqual.of(conditions.accepts, best), compiled),
      keeping,
      roles.right.leaves,
      index
    )
    new NearestJoinPairs(
      inputs,
      readers,
      pace,
      core,
      roles,
      compiled,
      reading,
      release
    )
  }

  private def keys(index: IndexMemory) = HashKeyTable.of(KeyForm.inMemory(sides.left.keys), index)
  private def readers =
    sides.map(s => SideReader.create(KeyForm.inMemory(s.keys), s.ranks, s.output))
  private def pace = scan.pace(best, sides.map(_.output))
  private def roles = JoinOutput.roles(joinType).get
  private def keeping = (conditions.accepts, conditions.isWithin) match {
    case (None, None) => Keeping.Best
    case (None, _) => Keeping.BestInReach
    case (_, None) => Keeping.All
    case _ => Keeping.AllInReach
  }

  private def precedence: Comparator[InternalRow] =
    GenerateOrdering.generate(scan.order(best.right) +: best.ties, sides.right.output)
}
