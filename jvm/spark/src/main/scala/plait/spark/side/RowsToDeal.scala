// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util.SplittableRandom

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.BySide
import plait.join.{DealtRows, SampledPairs}

/** The rows of one side as they lie in memory, with the hashes of their keys, to be dealt to buckets.
  *
  * {{{
  * rows   (k 7, s 1) (k NULL, s 2) (k 9, s 3)      alive   (k 7, s 1) (k 9, s 3)      dead   (k NULL, s 2)
  * }}}
  *
  * Conventions:
  *   1. A row is dead that has no key, or no rank where such rows match nothing.
  *   2. They are read one after the other where they lie, which the processor sees coming.
  *
  * @param reader
  *   of key and rank; ends of a reach are not asked for
  */
final private[spark] class RowsToDeal(
    val rows: RankedRows,
    private val reader: SideReader,
    keys: HashKeyTable,
    fields: Int
) extends DealtRows.Source {
  private val row = new UnsafeRow(fields)
  private var hashes = Array.emptyIntArray
  private var alive = 0

  override def count: Int = alive
  override def hash(number: Int): Int = hashes(number)
  override def rank(number: Int): Long = rows.rankOf(number)
  override def handle(number: Int): Long = rows.handle(number)

  /** Some rows: one by chance of each so many, for tables that were written side by side have a key at the same
    * places.
    */
  private def sample(chance: SplittableRandom, reader: SideReader): SampledPairs.Sample = {
    val every = math.max(1, rows.count / RowsToDeal.sampled(rows.count))
    val places = 0 until rows.count by every
    val seen = places.iterator
      .map(from => from + chance.nextInt(math.min(every, rows.count - from)))
      .filter(isAlive(_, reader))
      .map(_ => (keys.slotHash(reader), reader.low, reader.high))
      .toArray
    val alive = rows.count.toLong * seen.length / math.max(1, places.size)
    SampledPairs.Sample(seen.map(_._1), seen.map(_._2), seen.map(_._3), alive)
  }

  private def isAlive(number: Int, reader: SideReader): Boolean = {
    rows.point(rows.handle(number), row)
    reader.read(row, rows.rankOf(number))
    reader.reaches
  }

  /** Reads them all: those that are alive get the first numbers, in their sequence, and the others none.
    * @return the handles of dead rows
    */
  def readAll(): Array[Long] = {
    hashes = new Array[Int](rows.count)
    val dead = mutable.ArrayBuilder.make[Long]
    var number = 0
    // Invariant: of the rows before `number` the first `alive` numbers have those that are alive, with their hashes.
    while (number < rows.count) {
      if (isAlive(number, reader)) {
        hashes(alive) = keys.slotHash(reader)
        if (alive < number) rows.renumber(number, alive)
        alive += 1
      } else dead += rows.handle(number)
      number += 1
    }
    dead.result()
  }
}

private[spark] object RowsToDeal {

  /** What a row takes of the heap until all are dealt: its hash beside what it takes then. */
  val BytesPerRow: Int = 4 + DealtRows.BytesPerRow

  /** About how many of so many rows a side are looked at: each is far from the next in memory, and one of 64 will do. */
  private def sampled(rows: Int): Int = math.min(8192, math.max(1024, rows / 64))

  /** How many pairs of rows of equal keys there are, guessed; dead rows left out.
    *
    * @param reaching
    *   reads the left rows with their reaches
    */
  def pairs(sides: BySide[RowsToDeal], reaching: SideReader): SampledPairs = {
    // The same in each run: a task that runs again does what it did.
    val chance = new SplittableRandom(sides.left.rows.count)
    SampledPairs.guess(
      sides.left.sample(chance, reaching),
      sides.right.sample(chance, sides.right.reader)
    )
  }
}
