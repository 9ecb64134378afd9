// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSeq,
  BindReferences,
  Expression,
  UnsafeProjection,
  UnsafeRow
}

import plait.join.IntervalIndex

/** The rows of a collected side, looked up by key and interval. To Spark's hash joins it is a relation
  * like theirs, whose key begins with the two ends of an interval:
  *
  * {{{
  * get(6, 8, 'JFK')   the rows of 'JFK' whose own interval meets [6, 8], or null
  * }}}
  *
  * Conventions:
  *   1. A NULL in the key or in an end: no rows.
  *   2. `get` takes the interval off the key row that it is given: what is left of its bytes is the key.
  *   3. One question at a time: the rows of the last `get` end with the next.
  *   4. For one thread; [[asReadOnlyCopy]] gives one for another, over the same rows.
  */
final class IntervalRelation private (
    form: KeyForm,
    keys: HashKeyTable,
    index: IntervalIndex,
    rows: CollectedRows
) extends ProbedRelation
    with CountedLookups {
  private val key = new IntervalRelation.Key(form)
  private val cursor = index.cursor()
  private val row = new UnsafeRow(rows.columns)
  private var asked = 0L
  private var gave = 0L

  override def size: Int = index.size

  override def probes: Long = asked

  override def candidates: Long = gave

  override def get(probe: InternalRow): Iterator[InternalRow] = {
    val ends = probe.asInstanceOf[UnsafeRow]
    asked += 1
    if (ends.anyNull) null
    else {
      val (low, high) = (ends.getLong(0), ends.getLong(1))
      key.takeOff(ends)
      val group = keys.find(key)
      if (group == null) null
      else {
        cursor.ask(group.number, low, high)
        matches.begin()
        matches
      }
    }
  }

  private object matches extends Iterator[InternalRow] {
    private var next_ = -1
    def begin(): Unit = next_ = cursor.next()
    override def hasNext: Boolean = next_ >= 0
    override def next(): InternalRow = {
      rows.point(row, next_)
      gave += 1
      next_ = cursor.next()
      row
    }
  }

  override def asReadOnlyCopy(): IntervalRelation = new IntervalRelation(form, keys, index, rows)

  /** Of the index; the rows are the broadcast's. */
  override def estimatedSize: Long = IntervalRelation.BytesPerRow * index.size
}

object IntervalRelation {
  // Three longs, a place in the directory and the row's number; where the row lies, in a reference, a long and an int.
  private val BytesPerRow = 52L

  /** The expressions of a key row: the ends, then the key.
    * @param interval
    *   its two ends, longs
    */
  def keyExpressions(form: KeyForm, interval: Seq[Expression]): Seq[Expression] =
    interval ++ form.expressions

  /** Reads and sorts all rows. They are not copied, and must stay where they are. */
  def of(
      source: Iterator[UnsafeRow],
      form: KeyForm,
      interval: Seq[Expression],
      output: Seq[Attribute]
  ): IntervalRelation = {
    val keyOf = UnsafeProjection.create(
      BindReferences.bindReferences(keyExpressions(form, interval), new AttributeSeq(output))
    )
    val keys = HashKeyTable.of(form)
    val key = new Key(form)
    val rows = new CollectedRows.Builder
    val groups = mutable.ArrayBuilder.make[Int]
    val lows, highs = mutable.ArrayBuilder.make[Long]
    source.foreach { row =>
      val ends = keyOf(row)
      // A row without a key or an interval matches nothing.
      if (!ends.anyNull) {
        lows += ends.getLong(0)
        highs += ends.getLong(1)
        key.takeOff(ends)
        groups += keys.claim(key).number
        rows += row
      }
    }
    val index = IntervalIndex.of(keys.size, groups.result(), lows.result(), highs.result())
    new IntervalRelation(form, keys, index, rows.result(output.size, index.size, index.rowAt))
  }

  /** What is left of a key row without its ends. */
  final private class Key(form: KeyForm) extends RowKey {
    private val isWhole = form.isInstanceOf[KeyForm.Whole]

    def takeOff(ends: UnsafeRow): Unit =
      if (isWhole) keyValue = ends.getLong(2)
      else {
        ends.setLong(0, 0)
        ends.setLong(1, 0)
        key = ends
      }
  }
}
