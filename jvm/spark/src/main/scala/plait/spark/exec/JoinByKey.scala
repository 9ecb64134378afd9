// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.plait.TaskWatch

import plait.spark.side._
import plait.{BySide, Side}

/** A join of sides that are known to come by key, as they come: key by key ([[MergedPairs]]), and where a key has many rows in
  * portions ([[KeyPortions]]), each joined as a table would be.
  *
  * {{{
  * keys     1 2 3 4 5 6 7 8 9 ...          6 has a thousand rows
  *          merged  |portion      | merged ...
  * }}}
  *
  * @param ofPortion
  *   joins the rows that were stored last
  * @param giveBack
  *   lets go of what the inputs hold, as one of them may not be read to its end
  */
final private[exec] class JoinByKey(
    inputs: BySide[Iterator[InternalRow]],
    run: JoinRun,
    ofPortion: () => JoinedPairs,
    giveBack: () => Unit
) {
  import run.spec

  private val none = KeyForm.of(Nil)
  // What stands above may have taken all memory when a portion comes.
  private val sorts = run.sorts.map(_.get)
  Side.both.foreach(sorts(_).reserve())
  private val rows = BySide.make { side =>
    new RowsByKey(
      inputs(side),
      spec.keyReader(side),
      run.keyOrder,
      () => spec.rankReader(side, none),
      sorts(side),
      spec.roles(side).leaves,
      side.name
    )
  }
  private val portions = new KeyPortions(rows, run.keyOrder)
  private val merged = new MergedPairs(
    rows,
    portions,
    spec.roles,
    Option.when(!spec.isSolved)(() => spec.probingReader(Side.Left, none)),
    spec.sides.right.output.size,
    run.accepts,
    TaskWatch.of(run.context),
    run.reading,
    portion,
    () => end()
  )
  private val merging = JoinEnding.of(run.context)
  merging.is(() => count())

  def pairs: JoinedPairs = merged

  private def portion(before: FewRows): JoinedPairs = {
    run.ending.is(() => run.release())
    portions.store(before)
    ofPortion()
  }

  private def end(): Unit = {
    merging.run()
    Side.both.foreach(sorts(_).dispose())
    giveBack()
  }

  /** What was merged; what was stored is counted by who joins it. */
  private def count(): Unit = {
    import spec.metrics
    for (side <- Side.both) {
      metrics(JoinMetrics.rowsIn(side)) += rows(side).merged
      metrics(JoinMetrics.rowsPruned(side)) += rows(side).passed
      metrics(JoinMetrics.RowsByKey) += rows(side).merged
    }
    metrics(JoinMetrics.pairsByProbing(Side.Right)) += merged.pairs
    metrics(JoinMetrics.OutputRows) += merged.rowsOut
    JoinMetrics.note(metrics(JoinMetrics.peakBuffered(Side.Left)), 0)
    JoinMetrics.note(metrics(JoinMetrics.peakBuffered(Side.Right)), merged.peak.toLong)
    JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), merged.peak.toLong)
  }
}
