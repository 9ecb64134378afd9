// SPDX-License-Identifier: Apache-2.0
// Examples and laws: whether rows that are sorted by rank came by key before, and which run of them each key has.
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.LongType

import plait.Cases
import plait.spark.side._
import plait.spark.translate.OrderValue

class KeyRunsLaws extends SparkSuite {

  /** What is seen of rows with these keys, None for NULL; those of the given numbers have no rank. */
  private def seen(keys: Seq[Option[Long]], rankless: Set[Int] = Set.empty, after: Int = 0) =
    spark.sparkContext
      .parallelize(Seq((keys, rankless)), 1)
      .map { case (keys, rankless) => KeyRunsLaws.inTask(keys, rankless, after) }
      .collect()
      .head

  private def some(keys: Seq[Long]): Seq[Option[Long]] = keys.map(Some(_))

  test("{ NULL, NULL, 2, 3, 3, NULL, 7 } comes by key: 2 | 3 3 | 7, and the dead lie apart") {
    val keys = Seq(None, None, Some(2L), Some(3L), Some(3L), None, Some(7L))
    val found = seen(keys).get
    assertEquals(found.runs, Seq(Seq(2), Seq(3, 4), Seq(6)))
    assertEquals(found.dead, Seq(0, 1, 5))
    assertEquals((found.longest, found.squares), (2, 1.0 + 4 + 1))
  }

  test("a row without a rank is dead, wherever its key stands: { 5, 1 without, 6 } comes by key") {
    val found = seen(some(Seq(5, 1, 6)), rankless = Set(1)).get
    assertEquals(found.runs, Seq(Seq(0), Seq(2)))
    assertEquals(found.dead, Seq(1))
  }

  test("of no rows nothing is seen; rows that are all dead, and one key, come by key") {
    assertEquals(seen(Nil), None)
    assertEquals(seen(Seq(None, None)), Some(KeyRunsLaws.Seen(Nil, Seq(0, 1), 0, 0)))
    assertEquals(
      seen(some(Seq(4, 4, 4))),
      Some(KeyRunsLaws.Seen(Seq(Seq(0, 1, 2)), Nil, 3, 9))
    )
  }

  test("one row out of place among 60,000 is seen, wherever it is") {
    val keys = some(Seq.tabulate(60000)(_ / 3L))
    assert(seen(keys).isDefined)
    for (place <- 500 until 60000 by 7001) {
      val moved = keys.patch(place, Nil, 1).patch(place - 400, Seq(keys(place)), 0)
      assertEquals(seen(moved), None)
    }
    assertEquals(seen(keys :+ Some(19998L)), None)
  }

  test("keys are looked at once some rows have come, and then those of all: after 3 of 5") {
    val keys = Seq(Some(1L), None, Some(1L), Some(2L), Some(5L))
    assertEquals(seen(keys, after = 3), seen(keys))
    assertEquals(seen(keys, after = 3).get.runs, Seq(Seq(0, 2), Seq(3), Seq(4)))
    assertEquals(seen(some(Seq(2, 1, 3, 4, 5)), after = 3), None)
    assertEquals(seen(keys, after = 5), None)
  }

  test("{ runs } are the rows grouped by key if these never fall, and None if they do") {
    val random = new Random(Cases.seed)
    for (_ <- 0 until 60) {
      val any = Seq.fill(random.nextInt(40)) {
        Option.when(random.nextInt(5) > 0)(random.nextInt(12).toLong - 5)
      }
      val sorted = any.flatten.sorted.iterator
      val keys =
        if (random.nextInt(4) == 0) any
        else any.map(key => Option.when(key.isDefined)(sorted.next()))
      val alive = keys.indices.filter(keys(_).isDefined)
      val byKey = alive.groupBy(keys(_).get).toSeq.sortBy(_._1).map(_._2)
      val expected = Option.when(keys.nonEmpty && byKey.flatten == alive) {
        val sizes = byKey.map(_.size)
        val dead = keys.indices.filter(keys(_).isEmpty)
        KeyRunsLaws.Seen(byKey, dead, sizes.maxOption.getOrElse(0), sizes.map(n => n * n).sum)
      }
      val after = random.nextInt(keys.size.max(1))
      assertEquals(seen(keys, after = after), expected, s"seed ${Cases.seed}, keys $keys")
    }
  }

  test("pairs of rows of one key are never more than is said, and as many if both are even") {
    val (pairs, most) = spark.sparkContext
      .parallelize(Seq(0), 1)
      .map { _ =>
        val random = new Random(Cases.seed)
        Seq.fill(300) {
          val (l, r) = (KeyRunsLaws.runs(random, 30), KeyRunsLaws.runs(random, 30))
          val pairs = l._1.map(key => r._1.count(_ == key).toLong).sum
          (pairs, KeyRuns.pairsAtMost(l._2, r._2))
        }
      }
      .collect()
      .head
      .unzip
    for ((pairs, most) <- pairs.zip(most)) assert(pairs <= most + 1e-9, s"$pairs of $most")
    assert(pairs.exists(_ > 0))
    assert(pairs.zip(most).exists { case (pairs, most) => pairs > most * 0.9 }, "far too many")
  }
}

private object KeyRunsLaws {
  private val key = AttributeReference("k", LongType)()
  private val order = AttributeReference("t", LongType)()
  private val form = KeyForm.inMemory(Seq(key))
  private val output = Seq(key, order)

  /** Rows by their numbers. */
  final case class Seen(runs: Seq[Seq[Int]], dead: Seq[Int], longest: Int, squares: Double)

  private def seenBy = RunsSeen.of(form, OrderValue(order), output).get

  private def inTask(
      of: Seq[Option[Long]],
      rankless: Set[Int],
      after: Int
  ): Option[Seen] = {
    val keys = of.toVector // any of them at once
    val row = Rows.of(LongType, LongType)
    val sort = new RankSort(
      OrderValue(order),
      output,
      Map(JoinMetrics.SpillSize -> new SQLMetric("size"))
    )
    // A row's rank is its number.
    val rowsOfKeys = keys.zipWithIndex.iterator.map { case (key, number) =>
      row(Seq(key.orNull, if (rankless(number)) null else number.toLong)): InternalRow
    }
    sort.fill(rowsOfKeys, Some(RunsSeen.Watch(form, after)))
    val rows = sort.inMemory.get
    require(rows.count == keys.size)
    val numbers = (0 until rows.count).map(n => rows.handle(n) -> n).toMap
    val found = sort.inRuns.map { runs =>
      val reader = SideReader.create(form, Seq.fill(3)(OrderValue(order)), output)
      val inRuns = new RowsInRuns(sort.kept, runs, reader, fields = 2)
      val begins =
        Iterator.iterate(0)(inRuns.nextKey).takeWhile(_ < inRuns.count).toSeq :+ inRuns.count
      val byRun = begins.zip(begins.tail).map { case (from, until) =>
        (from until until).map { number =>
          val place = numbers(inRuns.handle(number))
          require(inRuns.rank(number) == place, "handle and rank part")
          require(keys(place).contains(inRuns.key(number).keyValue), "another key")
          place
        }
      }
      Seen(byRun, inRuns.dead.toSeq.map(numbers), runs.longest, runs.squares)
    }
    sort.release()
    found
  }

  /** Keys that come in sequence, and what is seen of them. */
  private def runs(random: Random, rows: Int): (Seq[Long], KeyRuns) = {
    val row = Rows.of(LongType, LongType)
    val most = 1 + random.nextInt(20)
    val keys = Seq.fill(random.nextInt(rows))(random.nextInt(most).toLong).sorted
    val seen = seenBy
    keys.foreach { key =>
      seen.reader.read(row(Seq(key, 0L)))
      assert(seen.see())
    }
    (keys, seen.runs)
  }
}
