// SPDX-License-Identifier: Apache-2.0
// Examples: rows of a task that are dealt by the hash of their key, and those that are dead.
package plait.spark

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.plait.TaskMemory
import org.apache.spark.sql.types.LongType

import plait.BySide
import plait.join.DealtRows
import plait.spark.side._
import plait.spark.translate.OrderValue

class RowsToDealLaws extends SparkSuite {

  private def dealt(keys: BySide[Seq[Option[Long]]]): RowsToDealLaws.Seen =
    spark.sparkContext
      .parallelize(Seq(keys), 1)
      .map(RowsToDealLaws.inTask(_))
      .collect()
      .head

  test("rows are dealt by key, and no one is lost: the dead lie apart") {
    val keys = Seq.tabulate(5000)(n => Option.when(n % 7 > 0)(n * 7919L % 500))
    val seen = dealt(BySide(keys, keys.reverse))
    val alive = keys.indices.filter(keys(_).isDefined)
    assertEquals(seen.buckets.left.flatten.sorted, alive)
    assertEquals(seen.dead.left, keys.indices.filterNot(alive.contains))
    for (bucket <- seen.buckets.left) assertEquals(bucket, bucket.sorted)
    val keysOfBuckets = seen.buckets.left.map(_.map(keys(_)).toSet)
    assertEquals(keysOfBuckets.map(_.size).sum, 500)
  }

  test("pairs are guessed: 5,000 rows of a key each, of 500 keys, and a side of the dead") {
    val keys = Seq.tabulate(5000)(n => Some(n * 7919L % 5000))
    val near = dealt(BySide(keys, keys)).pairs
    assert(near > 2000 && near < 10000, s"$near of 5000 pairs")
    val few = keys.map(_.map(_ % 500))
    val many = dealt(BySide(few, few)).pairs
    assert(many > 35000 && many < 65000, s"$many of 50000 pairs")
    assertEquals(dealt(BySide(keys, keys.map(_ => None))).pairs, 0.0)
    assertEquals(dealt(BySide(Nil, keys)).pairs, 0.0)
  }
}

private object RowsToDealLaws {

  /** Rows by their numbers, in the sequence in which they lie in their buckets. */
  final case class Seen(
      pairs: Double,
      buckets: BySide[Seq[Seq[Int]]],
      dead: BySide[Seq[Int]]
  )

  private def inTask(keys: BySide[Seq[Option[Long]]]): Seen = {
    val key = AttributeReference("k", LongType)()
    val order = AttributeReference("t", LongType)()
    val form = KeyForm.inMemory(Seq(key))
    val table = HashKeyTable.of(form)
    val row = Rows.of(LongType, LongType)
    def reader = SideReader.create(form, Seq.fill(3)(OrderValue(order)), Seq(key, order))
    val sources = keys.map { keys =>
      val rows = new RankedRows(TaskMemory.of(TaskContext.get()))
      for ((key, number) <- keys.zipWithIndex)
        rows.insert(row(Seq(key.orNull, number.toLong)), number.toLong)
      new RowsToDeal(rows, reader, table, fields = 2)
    }
    // A row's rank is its number, wherever it goes.
    val numbers = sources.map { source =>
      (0 until source.rows.count).map(n => source.rows.handle(n) -> n).toMap
    }
    val pairs = RowsToDeal.pairs(sources, reader).equal
    val dead = BySide.make(side => sources(side).readAll().toSeq.map(numbers(side)))
    val buckets = BySide.make { side =>
      val rows = DealtRows.of(sources(side), bits = 4)
      (0 until rows.buckets).map { bucket =>
        (rows.begin(bucket) until rows.end(bucket)).map { place =>
          val number = numbers(side)(rows.handle(place))
          require(number == rows.rank(place), "handle and rank part")
          number
        }
      }
    }
    sources.map(_.rows.clear())
    Seen(pairs, buckets, dead)
  }
}
