// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util.SplittableRandom

import scala.collection.mutable

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
  *   3. A side *comes by key* if no key of it stands before that of an earlier row, in the sequence of [[KeyOrder]]. Nobody has
  *      to say so: it is seen. Where both sides come by key they stay as they lie.
  *
  * @param reader
  *   of key and rank; ends of a reach are not asked for
  */
final private[spark] class RowsToDeal(
    val rows: RankedRows,
    reader: SideReader,
    keys: HashKeyTable,
    order: Option[KeyOrder],
    fields: Int
) extends DealtRows.Source {
  private val row = new UnsafeRow(fields)
  private var hashes = Array.emptyIntArray
  private var alive = 0
  private var deadNumbers = Array.emptyIntArray
  private var cameByKey = false
  // The key of the built row at which both sides are cut.
  private val cutKey = new HeldKey
  private var cutAt = -1

  override def count: Int = alive
  override def hash(number: Int): Int = hashes(number)
  override def rank(number: Int): Long = rows.rankOf(number)
  override def handle(number: Int): Long = rows.handle(number)

  /** Some rows: one by chance of each so many, for tables that were written side by side have a key at the same
    * places.
    */
  private def sample(chance: SplittableRandom): RowsToDeal.Sample = {
    val every = math.max(1, rows.count / RowsToDeal.sampled(rows.count))
    val places = 0 until rows.count by every
    val inOrder = new InOrder
    val hashes = places.iterator
      .map(from => from + chance.nextInt(math.min(every, rows.count - from)))
      .filter(readAlive)
      .map { _ =>
        inOrder.see()
        keys.hash(reader)
      }
      .toArray
    val alive = rows.count.toLong * hashes.length / math.max(1, places.size)
    RowsToDeal.Sample(hashes, alive, inOrder.isSoFar)
  }

  private def read(number: Int): Unit = {
    rows.point(rows.handle(number), row)
    reader.read(row, rows.rankOf(number))
  }

  /** Reads a row.
    * @return whether it is alive
    */
  private def readAlive(number: Int): Boolean = {
    read(number)
    reader.reaches
  }

  /** Watches whether the keys that are read come in order, one after the other. */
  final private class InOrder {
    private val last = new HeldKey
    private var isFirst = true
    var isSoFar: Boolean = order.isDefined

    def see(): Unit = if (isSoFar) {
      isSoFar = isFirst || order.get.compare(last, reader) <= 0
      isFirst = false
      last.hold(reader)
    }
  }

  /** Reads them all, and leaves them as they are. */
  def readAll(): Unit = {
    hashes = new Array[Int](rows.count)
    val inOrder = new InOrder
    val dead = mutable.ArrayBuilder.make[Int]
    var number = 0
    // Invariant: of the rows before `number` those that are alive have their hashes, in sequence, and the others are noted.
    while (number < rows.count) {
      if (readAlive(number)) {
        inOrder.see()
        hashes(alive) = keys.hash(reader)
        alive += 1
      } else dead += number
      number += 1
    }
    deadNumbers = dead.result()
    cameByKey = inOrder.isSoFar
  }

  /** After all are read: those that are alive get the first numbers, in their sequence, and the others none.
    * @return the handles of dead rows
    */
  def takeOutDead(): Array[Long] = {
    val handles = deadNumbers.map(rows.handle)
    var dead = 0
    var number = deadNumbers.headOption.getOrElse(rows.count)
    // Invariant: of the rows before `number` `dead` are dead, and the others have the first numbers.
    while (number < rows.count) {
      if (dead < deadNumbers.length && deadNumbers(dead) == number) dead += 1
      else rows.renumber(number, number - dead)
      number += 1
    }
    handles
  }

  /** Does the key of a row stand before that of a row of the built side? */
  private def isBelow(number: Int, built: RowsToDeal, cut: Int): Boolean = {
    built.cutBefore(cut)
    read(number)
    order.get.compare(reader, built.cutKey) < 0
  }

  private def cutBefore(number: Int): Unit = if (number != cutAt) {
    read(number)
    cutKey.hold(reader)
    cutAt = number
  }
}

private[spark] object RowsToDeal {

  /** What a row takes of the heap until all are dealt: its hash beside what it takes then. */
  val BytesPerRow: Int = 4 + DealtRows.BytesPerRow

  /** About how many of so many rows a side are looked at: each is far from the next in memory, and one of 64 will do. */
  private def sampled(rows: Int): Int = math.min(8192, math.max(1024, rows / 64))

  /** What some of their rows say of two sides.
    * @param pairs
    *   how many pairs of rows of equal keys there are
    * @param seemToComeByKey
    *   whether no row that was looked at says otherwise
    */
  final case class Guess(pairs: Double, seemToComeByKey: Boolean)

  def guess(sides: BySide[RowsToDeal]): Guess = {
    // The same in each run: a task that runs again does what it did.
    val chance = new SplittableRandom(sides.left.rows.count)
    val (l, r) = (sides.left.sample(chance), sides.right.sample(chance))
    Guess(SampledPairs.guess(l.hashes, l.alive, r.hashes, r.alive), l.inOrder && r.inOrder)
  }

  /** Of two sides all of which is read: did both come by key? */
  def cameByKey(sides: BySide[RowsToDeal]): Boolean = Side.both.forall(sides(_).cameByKey)

  /** Two sides without their dead rows, in buckets. */
  def dealt(sides: BySide[RowsToDeal], built: Side): BySide[DealtRows] = {
    val counts = sides.map(_.count)
    if (cameByKey(sides)) {
      val begins = KeyStretches.begins(counts, built)(sides(_).isBelow(_, sides(built), _))
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
    *   whether no key stands before that of a row that was sampled earlier
    */
  final private case class Sample(hashes: Array[Int], alive: Long, inOrder: Boolean)
}
