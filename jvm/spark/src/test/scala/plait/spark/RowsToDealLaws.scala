// SPDX-License-Identifier: Apache-2.0
// Examples and laws: rows of a task that come by key stay where they lie, all others are dealt by the hash of their key.
package plait.spark

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.plait.TaskMemory
import org.apache.spark.sql.types.LongType

import plait.join.DealtRows
import plait.spark.side._
import plait.spark.translate.OrderValue
import plait.{BySide, Side}

class RowsToDealLaws extends SparkSuite {

  /** What becomes of two sides of keys, None for NULL. */
  private def dealt(keys: BySide[Seq[Option[Long]]]): RowsToDealLaws.Seen =
    spark.sparkContext
      .parallelize(Seq(keys), 1)
      .map(RowsToDealLaws.inTask(_))
      .collect()
      .head

  private def some(keys: Seq[Long]): Seq[Option[Long]] = keys.map(Some(_))

  test("{ NULL, NULL, 2, 3, 3, NULL, 7 } comes by key: those that are alive keep their sequence") {
    val keys = Seq(None, None, Some(2L), Some(3L), Some(3L), None, Some(7L))
    val seen = dealt(BySide(keys, some(Seq(1, 3))))
    assert(seen.asTheyLie && seen.seemed)
    assertEquals(seen.rows.left, Seq(2, 3, 4, 6))
    assertEquals(seen.dead.left, Seq(0, 1, 5))
    assertEquals(seen.rows.right, Seq(0, 1))
    assertEquals(seen.begins.map(_.size), BySide(2, 2))
  }

  test("rows that come otherwise are dealt, and no one is lost") {
    val keys = Seq.tabulate(5000)(n => Option.when(n % 7 > 0)(n * 7919L % 5000))
    val seen = dealt(BySide(keys, keys.sorted))
    assert(!seen.asTheyLie && !seen.seemed)
    val alive = keys.indices.filter(keys(_).isDefined)
    assertNotEquals(seen.rows.left, alive)
    assertEquals(seen.rows.left.sorted, alive)
    assertEquals(seen.dead.left, keys.indices.filterNot(alive.contains))
  }

  test("one row out of place among 60,000 is seen, though a sample may not show it") {
    val keys = some(Seq.tabulate(60000)(_ / 3L))
    val seen = for (place <- 500 until 60000 by 7001) yield {
      val moved = keys.patch(place, Nil, 1).patch(place - 400, Seq(keys(place)), 0)
      dealt(BySide(keys, moved))
    }
    assert(seen.exists(_.seemed), "all samples show it")
    assertEquals(seen.map(_.asTheyLie).toSet, Set(false))
  }

  test("a bucket of the built side has some 2,048 rows, though all of them lie between two keys") {
    val apart = some(Seq.tabulate(20000)(_ * 1000000L))
    val between = some(Seq.tabulate(20000)(5000000L + _))
    for (keys <- Seq(BySide(apart, between), BySide(between, apart))) {
      val seen = dealt(keys)
      assert(seen.asTheyLie)
      // Of as many on both sides the right one is built.
      val begins = seen.begins.right
      assertEquals(begins.zip(begins.tail).map { case (a, b) => b - a }.max, 2048)
      for (side <- Side.both) assertEquals(seen.rows(side), (0 until 20000).toSeq)
    }
  }

  test("a side without rows comes by key") {
    val seen = dealt(BySide(Nil, some(0L until 9000L)))
    assert(seen.asTheyLie && seen.seemed)
    assertEquals(seen.begins.left.toSet, Set(0))
  }
}

private object RowsToDealLaws {

  /** Rows by their numbers, in the sequence of their buckets. */
  final case class Seen(
      seemed: Boolean,
      asTheyLie: Boolean,
      begins: BySide[Seq[Int]],
      rows: BySide[Seq[Int]],
      dead: BySide[Seq[Int]]
  )

  private def inTask(keys: BySide[Seq[Option[Long]]]): Seen = {
    val key = AttributeReference("k", LongType)()
    val order = AttributeReference("t", LongType)()
    val form = KeyForm.inMemory(Seq(key))
    val table = HashKeyTable.of(form)
    val row = Rows.of(LongType, LongType)
    val sources = keys.map { keys =>
      val rows = new RankedRows(TaskMemory.of(TaskContext.get()))
      for ((key, number) <- keys.zipWithIndex)
        rows.insert(row(Seq(key.orNull, number.toLong)), number.toLong)
      val reader = SideReader.create(form, Seq.fill(3)(OrderValue(order)), Seq(key, order))
      new RowsToDeal(rows, reader, table, KeyOrder.of(form), fields = 2)
    }
    // A row's rank is its number, wherever it goes.
    val numbers = sources.map { source =>
      (0 until source.rows.count).map(n => source.rows.handle(n) -> n).toMap
    }
    val guess = RowsToDeal.guess(sources)
    sources.map(_.readAll())
    val asTheyWere = sources.map(source => (0 until source.rows.count).map(source.rows.rankOf))
    require(Side.both.forall(side => asTheyWere(side) == keys(side).indices.map(_.toLong)))
    val dead = BySide.make(side => sources(side).takeOutDead().toSeq.map(numbers(side)))
    val built = if (sources.left.count > sources.right.count) Side.Left else Side.Right
    val dealt = RowsToDeal.dealt(sources, built)
    def places(rows: DealtRows) = (0 until rows.count).map(rows.rank(_).toInt)
    for (side <- Side.both; rows = dealt(side); place <- 0 until rows.count)
      require(numbers(side)(rows.handle(place)) == rows.rank(place), "handle and rank part")
    sources.map(_.rows.clear())
    Seen(
      guess.seemToComeByKey,
      RowsToDeal.cameByKey(sources),
      dealt.map(rows => (0 until rows.buckets).map(rows.begin) :+ rows.count),
      dealt.map(places),
      dead
    )
  }
}
