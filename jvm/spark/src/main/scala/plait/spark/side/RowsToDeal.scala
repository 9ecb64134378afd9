// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util.SplittableRandom

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.{DealtRows, KeyStretches, SampledPairs}
import plait.{BySide, Side}

/** The rows of one side as they lie in memory, with the hashes of their keys, to be dealt to buckets.
  *
  * {{{
  * rows   (k 7, s 1) (k NULL, s 2) (k 9, s 3)      alive   (k 7, s 1) (k 9, s 3)      dead   (k NULL, s 2)
  * }}}
  *
  * Conventions:
  *   1. A row is dead that has no key, or no rank where such rows match nothing.
  *   2. They are read one after the other where they lie, which the processor sees coming.
  *   3. A side *comes by key* if no key of it lies before one that was read earlier; of files that were written so that
  *      is true without anybody having said it. Where both sides come by key they are dealt as they lie.
  *
  * @param newReader
  *   of key and rank; ends of a reach are not asked for
  */
final private[spark] class RowsToDeal(
    val rows: RankedRows,
    newReader: () => SideReader,
    keys: HashKeyTable,
    order: Option[KeyOrder],
    fields: Int
) extends DealtRows.Source {
  private val row = new UnsafeRow(fields)
  private var reader = newReader()
  // Has the key of the row before, for as long as rows come by key.
  private var earlier = newReader()
  private var hashes = Array.emptyIntArray
  private var alive = 0
  private var comesByKey = false

  override def count: Int = alive
  override def hash(number: Int): Int = hashes(number)
  override def rank(number: Int): Long = rows.rankOf(number)
  override def handle(number: Int): Long = rows.handle(number)

  /** Some rows: one by chance of each so many, for tables that were written side by side have a key at the same
    * places.
    */
  private def sample(chance: SplittableRandom): RowsToDeal.Sample = {
    val every = math.max(1, rows.count / RowsToDeal.MostSampled)
    val places = 0 until rows.count by every
    val inOrder = new InOrder
    val hashes = places.iterator
      .map(from => from + chance.nextInt(math.min(every, rows.count - from)))
      .filter(isAlive)
      .map(_ => inOrder.next())
      .toArray
    val alive = rows.count.toLong * hashes.length / math.max(1, places.size)
    RowsToDeal.Sample(hashes, alive, inOrder.isSoFar)
  }

  private def isAlive(number: Int): Boolean = isAlive(number, reader)

  private def isAlive(number: Int, reader: SideReader): Boolean = {
    rows.point(rows.handle(number), row)
    reader.read(row, rows.rankOf(number))
    reader.reaches
  }

  /** Watches whether keys come in order, one after the other. */
  final private class InOrder {
    private var isFirst = true
    var isSoFar: Boolean = order.isDefined

    /** @return the hash of the key at hand */
    def next(): Int = {
      val hash = keys.hash(reader)
      if (isSoFar) {
        isSoFar = isFirst || order.get.compare(earlier, reader) <= 0
        isFirst = false
        val before = earlier
        earlier = reader
        reader = before
      }
      hash
    }
  }

  /** Reads them all, and leaves those that are alive in their sequence.
    * @return the handles of dead rows
    */
  def readAll(): Array[Long] = {
    hashes = new Array[Int](rows.count)
    val inOrder = new InOrder
    var number = 0
    // Invariant: of the rows before `number` the first `alive` are alive and have hashes, the others are dead.
    while (number < rows.count) {
      if (isAlive(number)) {
        hashes(alive) = inOrder.next()
        if (number != alive) rows.swap(number, alive)
        alive += 1
      }
      number += 1
    }
    comesByKey = inOrder.isSoFar
    Array.tabulate(rows.count - alive)(n => rows.handle(alive + n))
  }

  /** Is the key of a row before that of a row of this side or the other? */
  private def isBelow(number: Int, other: RowsToDeal, otherNumber: Int): Boolean =
    isAlive(number) && other.isAlive(otherNumber, other.earlier) &&
      order.get.compare(reader, other.earlier) < 0
}

private[spark] object RowsToDeal {

  /** What a row takes of the heap until all are dealt: its hash beside what it takes then. */
  val BytesPerRow: Int = 4 + DealtRows.BytesPerRow

  /** About so many rows a side are looked at. */
  private val MostSampled = 8192

  /** What some of their rows say of two sides.
    * @param pairs
    *   how many pairs of rows of equal keys there are
    * @param comeByKey
    *   whether both sides do
    */
  final case class Guess(pairs: Double, comeByKey: Boolean)

  def guess(sides: BySide[RowsToDeal]): Guess = {
    // The same in each run: a task that runs again does what it did.
    val chance = new SplittableRandom(sides.left.rows.count)
    val (l, r) = (sides.left.sample(chance), sides.right.sample(chance))
    Guess(SampledPairs.guess(l.hashes, l.alive, r.hashes, r.alive), l.inOrder && r.inOrder)
  }

  /** Of two sides that are read: do both come by key? */
  def comeByKey(sides: BySide[RowsToDeal]): Boolean = Side.both.forall(sides(_).comesByKey)

  /** Two sides that are read, in buckets. */
  def dealt(sides: BySide[RowsToDeal]): BySide[DealtRows] = {
    val counts = sides.map(_.count)
    if (comeByKey(sides)) {
      val longer = sides(KeyStretches.longerOf(counts))
      val begins = KeyStretches.begins(counts)(sides(_).isBelow(_, longer, _))
      BySide.make(side => DealtRows.asTheyCome(sides(side), begins(side)))
    } else {
      val bits = DealtRows.bitsFor(counts.left.toLong + counts.right)
      sides.map(DealtRows.of(_, bits))
    }
  }

  /** @param hashes
    *   those of dead rows left out
    * @param alive
    *   how many rows of the side are not dead, guessed
    * @param inOrder
    *   whether no key lies before that of a row that was sampled earlier
    */
  final private case class Sample(hashes: Array[Int], alive: Long, inOrder: Boolean)
}
