// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.joins.plait.BroadcastRelation
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform

/** The rows of a collected side, looked up as in an [[IntervalRelation]], which is made only once it is likely to pay: all
  * rows of the key are given until so many have been gone through as would have paid for the index. So a few probes cost
  * what they cost Spark's join, and many cost at most twice as much as if the number had been known: as far as a condition
  * is a few comparisons.
  *
  * {{{
  * 1,000,000 rows collected, 100 a key, index after 8,000,000        probes 1 to 80,000       each is given 100 rows
  *                                                                   the index is made
  *                                                                   probe 80,001             is given those that meet it
  * }}}
  *
  * Conventions:
  *   1. Those of [[IntervalRelation]], but that more rows come than meet the interval: the condition is to be evaluated.
  *   2. The key is as Spark's own relation has it: one long, or a row of the columns ([[KeyForm.broadcast]]).
  */
final class LateIntervalRelation(side: CollectedSide, form: KeyForm)
    extends ProbedRelation
    with CountedLookups {
  import LateIntervalRelation._

  // One of the two is null.
  private var byKey: BroadcastRelation.ByKey = if (side.isDue) null else side.byKey
  private var index: IntervalRelation = if (byKey == null) side.index else null
  private val isWhole = form.isInstanceOf[KeyForm.Whole]
  private val key = new KeyWithoutEnds(form.expressions.map(_.dataType))
  private var asked = 0L
  private var gave = 0L
  private var reported = 0L

  /** Of the index, 0 while there is none. */
  override def size: Int = if (index == null) 0 else index.size

  override def probes: Long = asked + (if (index == null) 0L else index.probes)

  override def candidates: Long = gave + (if (index == null) 0L else index.candidates)

  override def get(probe: InternalRow): Iterator[InternalRow] = {
    if (gave - reported >= ReportEvery) {
      report()
      if (side.isDue) turn()
    }
    if (index == null) ofKey(probe.asInstanceOf[UnsafeRow]) else index.get(probe)
  }

  override def end(): Unit = report()

  /** The other tasks count with what this one has gone through. */
  private def report(): Unit = {
    side.goThrough(gave - reported)
    reported = gave
  }

  private def turn(): Unit = {
    index = side.index
    byKey = null
  }

  private def ofKey(probe: UnsafeRow): Iterator[InternalRow] = {
    asked += 1
    if (probe.anyNull) null
    else {
      val found = if (isWhole) byKey.get(probe.getLong(2)) else byKey.get(key.of(probe))
      if (found == null) null
      else {
        all.begin(found)
        all
      }
    }
  }

  private object all extends Iterator[InternalRow] {
    private var rows: Iterator[InternalRow] = _
    def begin(found: Iterator[InternalRow]): Unit = rows = found
    override def hasNext: Boolean = rows.hasNext
    override def next(): InternalRow = {
      gave += 1
      rows.next()
    }
  }

  override def asReadOnlyCopy(): LateIntervalRelation = new LateIntervalRelation(side, form)

  /** Of the index; the rows are the broadcast's. */
  override def estimatedSize: Long = if (index == null) 0 else index.estimatedSize
}

object LateIntervalRelation {
  private val ReportEvery = 4096

  /** A row without its first two columns, as if it had been made without them: for rows without a NULL. */
  final private class KeyWithoutEnds(types: Seq[DataType]) {
    private val nulls = UnsafeRow.calculateBitSetWidthInBytes(types.size)
    private val cut = UnsafeRow.calculateBitSetWidthInBytes(types.size + 2) + 2 * 8 - nulls
    // Their values say how many bytes from the beginning of the row on they lie.
    private val elsewhere = types.indices.filterNot(n => UnsafeRow.isFixedLength(types(n))).toArray
    private val key = new UnsafeRow(types.size)
    private var bytes = new Array[Byte](128)

    def of(row: UnsafeRow): UnsafeRow = {
      val size = row.getSizeInBytes - cut
      if (bytes.length < size) bytes = new Array[Byte](2 * size)
      val from = row.getBaseOffset + cut + nulls
      val to = Platform.BYTE_ARRAY_OFFSET.toLong + nulls
      Platform.copyMemory(row.getBaseObject, from, bytes, to, size.toLong - nulls)
      key.pointTo(bytes, size)
      elsewhere.foreach(n => key.setLong(n, key.getLong(n) - (cut.toLong << 32)))
      key
    }
  }
}
