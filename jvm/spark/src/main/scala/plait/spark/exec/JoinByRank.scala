// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.{JoinCore, KeyGroup, MemoryRowBuffer}
import plait.spark.side._
import plait.{BySide, Side}

/** A join of rows in the sequence of their ranks, by the core of the join ([[plait.join.JoinCore]]). It may be made anew for
  * other rows once those of before are joined.
  */
final private[exec] class JoinByRank(run: JoinRun) {
  import run.spec
  import spec.{metrics, sides}

  private val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
  private lazy val stores =
    sides.map(s => new PagedRowStore(run.memory, s.output.size, target, reading = run.reading))
  private lazy val readers = BySide.make { side =>
    SideReader.create(keyForm(side), sides(side).ranks, sides(side).output)
  }

  private def keyForm(side: Side) = KeyForm.inMemory(sides(side).keys)

  def pairs(inputs: BySide[RowsByRank]): JoinedPairs = {
    val keys = HashKeyTable.of(keyForm(Side.Left), run.index)
    val buffers =
      BySide.make(side => new MemoryRowBuffer[UnsafeRow](side, keys, stores(side), run.index))
    val core =
      new JoinCore[SideReader, KeyGroup, UnsafeRow](keys, buffers, spec.roles, spec.rankless)
    val pairs = new SymmetricHashJoinPairs(
      inputs,
      readers,
      core,
      spec.roles,
      run.accepts,
      spec.trace
        .fold[BufferTrace](BufferTrace.Off)(new BufferTrace.On(run.context.partitionId(), _)),
      run.reading,
      () => run.ending.run()
    )
    run.ending.is { () =>
      count(core, pairs)
      for (side <- Side.both) stores(side).clear()
      run.release()
    }
    pairs
  }

  private def count(
      core: JoinCore[SideReader, KeyGroup, UnsafeRow],
      pairs: SymmetricHashJoinPairs
  ): Unit = {
    for (side <- Side.both) {
      val counts = core.counts(side)
      metrics(JoinMetrics.rowsIn(side)) += counts.in
      metrics(JoinMetrics.rowsPruned(side)) += counts.pruned
      metrics(JoinMetrics.pairsByProbing(side)) += pairs.pairsByProbing(side)
      JoinMetrics.note(metrics(JoinMetrics.peakBuffered(side)), counts.peak)
    }
    metrics(JoinMetrics.OutputRows) += pairs.rowsOut
    JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), core.peakBuffered)
  }
}
