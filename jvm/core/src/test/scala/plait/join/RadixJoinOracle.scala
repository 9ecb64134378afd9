// SPDX-License-Identifier: Apache-2.0
// Examples and laws; the oracle is NestedLoopJoin over keys and reaches.
package plait.join

import scala.util.Random

import munit.FunSuite

import plait.join.Harness._
import plait.{BySide, Cases, Side}

class RadixJoinOracle extends FunSuite {
  private val joins = Cases.of(50000, soak = 5000000)

  /** Rows as their numbers; keys have hashes that meet, in few bits as in all. */
  private class Table(val rows: IndexedSeq[Row], hashOf: Int => Int) extends DealtRows.Source {
    override def count: Int = rows.size
    override def hash(row: Int): Int = hashOf(rows(row).key)
    override def rank(row: Int): Long = rows(row).rank.getOrElse(Rankless.Rank)
    override def handle(row: Int): Long = row.toLong
  }

  /** By their hashes; or, of rows that come by key, as they lie, cut at every so many rows of the built side. */
  private def byHash(tables: BySide[Table], bits: Int): BySide[DealtRows] =
    tables.map(DealtRows.of(_, bits))

  private def asTheyCome(tables: BySide[Table], built: Side, every: Int): BySide[DealtRows] = {
    val begins = beginsOf(tables.map(_.rows.map(_.key)), built, every)
    BySide.make(side => DealtRows.asTheyCome(tables(side), begins(side)))
  }

  private def beginsOf(keys: BySide[IndexedSeq[Int]], built: Side, every: Int) =
    KeyStretches.begins(keys.map(_.size), built, every) { (side, row, cut) =>
      keys(side)(row) < keys(built)(cut)
    }

  /** What comes out of a join that is driven as a task drives it. */
  private def outputs(
      tables: BySide[Table],
      dealt: BySide[DealtRows],
      built: Side,
      roles: BySide[Role],
      rankless: Rankless
  ): Seq[Out] = {
    var fetched = Set.empty[(Side, Long)]
    val core = new RadixJoin(
      dealt,
      built,
      roles,
      rankless,
      (side, of, from, until) =>
        fetched ++= (from until until).map(place => (side, of.handle(place)))
    )
    val out = Seq.newBuilder[Out]
    def row(side: Side, handle: Long): Row = tables(side).rows(handle.toInt)
    def probe(): Unit = {
      val own = row(built.other, core.probing)
      if (core.hasCandidates) own.reach.foreach { case (low, high) =>
        core.look(low, high)
        while (core.nextCandidate()) {
          val partner = row(built, core.candidate)
          assert(fetched((built, core.candidate)), "a row was not fetched")
          if (partner.key == own.key) {
            core.accept()
            val (l, r) = if (built == Side.Left) (partner, own) else (own, partner)
            if (roles.left.matches == Matching.Stays) out += Matched(l.id, Some(r.id))
            else if (roles.left != Role.Missing) out += Matched(l.id, None)
          }
        }
      }
      if (core.leavesAtOnce) out += Alone(built.other, own.id)
    }
    Iterator.continually(core.step()).takeWhile(_ != RadixJoin.Over).foreach { step =>
      if (step == RadixJoin.Probes) probe()
      else out += Alone(built, row(built, core.leaver).id)
    }
    out.result()
  }

  private def table(random: Random, keys: Int, hash: Int => Int, rankless: Rankless): Table = {
    def rank() = random.nextInt(30).toLong
    val rows = IndexedSeq.tabulate(random.nextInt(if (random.nextInt(4) == 0) 60 else 12)) { id =>
      val reach = Option.when(random.nextInt(10) > 0) {
        val low = rank()
        (low, low + random.nextInt(20) - 2)
      }
      val hasRank = rankless == Rankless.Dead || random.nextInt(4) > 0
      Row(id, random.nextInt(keys), Option.when(hasRank)(rank()), reach)
    }
    new Table(rows, hash)
  }

  private def check(random: Random): Int = {
    val hashes = IndexedSeq.fill(20)(random.nextInt())
    val bits = 1 + random.nextInt(6)
    // All apart; some alike in all bits; one bucket for all.
    val hash: Int => Int = random.nextInt(3) match {
      case 0 => hashes(_)
      case 1 => key => hashes(key % 4)
      case _ => _ => 7
    }
    val rankless = if (random.nextBoolean()) Rankless.Dead else Rankless.Matching
    val built = if (random.nextBoolean()) Side.Left else Side.Right
    val roles = joinTypes(random.nextInt(joinTypes.size))
    val keys = 1 + random.nextInt(hashes.size)
    val tables = BySide.make { side =>
      table(random, keys, hash, if (side == built) rankless else Rankless.Dead)
    }
    // The pairs that are asked about: keys are equal, and the built row lies in the reach of the other.
    def matches(l: Row, r: Row): Boolean = {
      val (partner, own) = if (built == Side.Left) (l, r) else (r, l)
      l.key == r.key && own.reach.exists { case (low, high) =>
        partner.rank.forall(rank => low <= rank && rank <= high)
      }
    }
    val expected = sorted(defined[Row](roles, tables.map(_.rows), _.id)(matches))
    val byKey = tables.map(table => new Table(table.rows.sortBy(_.key), hash))
    val found = Map(
      "by hash" -> outputs(tables, byHash(tables, bits), built, roles, rankless),
      "as they come" -> outputs(
        byKey,
        asTheyCome(byKey, built, every = 1 + random.nextInt(8)),
        built,
        roles,
        rankless
      )
    )
    for ((how, rows) <- found)
      assertEquals(sorted(rows), expected, s"seed ${Cases.seed}, $roles, built $built, $how")
    expected.size
  }

  test(s"$joins random radix joins of every type give the rows of the nested loop") {
    val random = new Random(Cases.seed)
    val rows = Iterator.fill(joins)(check(random).toLong).sum
    assert(rows > joins * 5L, s"the cases are too poor: $rows rows of $joins joins")
  }

  test("rows are dealt in the sequence in which they come: 1100, 0100, 1101 by 1 bit") {
    val dealt = DealtRows.of(
      new Table(
        IndexedSeq(Row(0, 12, Some(5), None), Row(1, 4, Some(6), None), Row(2, 13, Some(7), None)),
        _ << 28
      ),
      bits = 1
    )
    assertEquals((dealt.begin(0), dealt.end(0), dealt.begin(1), dealt.end(1)), (0, 1, 1, 3))
    assertEquals((0 until 3).map(dealt.handle), IndexedSeq(1L, 0L, 2L))
    assertEquals((0 until 3).map(dealt.rank), IndexedSeq(6L, 5L, 7L))
  }

  test(
    "rows that come by key stay where they are, and are cut between keys: 1 1 | 3 | 4 4 4 | 6 7"
  ) {
    val keys = BySide(IndexedSeq(1, 1, 3, 4, 4, 4, 6, 7), IndexedSeq(2, 3, 4, 5))
    val begins = beginsOf(keys, Side.Left, every = 2)
    assertEquals(begins.map(_.toSeq), BySide(Seq(0, 2, 3, 6, 8), Seq(0, 1, 2, 4, 4)))
    val rows = keys.left.zipWithIndex.map { case (key, id) => Row(id, key, Some(9L - id), None) }
    val dealt = DealtRows.asTheyCome(new Table(rows, _ * 5), begins.left)
    assertEquals((0 until 8).map(dealt.handle), (0L until 8L).toIndexedSeq)
    assertEquals((0 until 8).map(dealt.rank), (0 until 8).map(9L - _))
    assertEquals((0 until 8).map(dealt.hash), keys.left.map(_ * 5))
  }

  test(
    "{ cuts } lie between keys, buckets of both sides have the same keys, and all rows lie in one"
  ) {
    val random = new Random(Cases.seed)
    for (_ <- 0 until 2000) {
      val keys = BySide.make { _ =>
        IndexedSeq.fill(random.nextInt(40))(random.nextInt(1 + random.nextInt(30))).sorted
      }
      val built = if (random.nextBoolean()) Side.Left else Side.Right
      val every = 1 + random.nextInt(9)
      val begins = beginsOf(keys, built, every)
      val buckets = BySide.make { side =>
        begins(side).toSeq.zip(begins(side).tail).map { case (a, b) => keys(side).slice(a, b) }
      }
      for (side <- Side.both) assertEquals(buckets(side).flatten, keys(side).toSeq)
      assertEquals(buckets.left.size, buckets.right.size)
      val all = buckets.left.zip(buckets.right).map { case (l, r) => (l ++ r).toSet }
      assertEquals(all.map(_.size).sum, all.flatten.toSet.size, s"$keys cut at $begins")
      // What comes to a stretch of the built side beyond its first rows, and those of the next cut, is of one key.
      for (bucket <- buckets(built)) assert(bucket.drop(every).dropRight(every).distinct.size <= 1)
    }
  }

  test("a bucket has some 4,096 rows of both sides, and there are at most 4,096 buckets") {
    assertEquals(
      Seq(0L, 4096L, 8192L, 8193L, 4000000L, 1L << 40).map(DealtRows.bitsFor),
      Seq(1, 1, 1, 2, 10, 12)
    )
  }

  test("pairs of all rows are counted: {1, 1, 2} and {1, 2, 2, 3} have 2 + 2") {
    assertEquals(SampledPairs.guess(Array(2, 1, 1), 3, Array(3, 2, 1, 2), 4), 4.0)
    assertEquals(SampledPairs.guess(Array.empty, 0, Array(1), 1), 0.0)
  }

  test("pairs are guessed within two fifths of a million rows: near-unique keys, and a thousand") {
    val random = new Random(Cases.seed)
    for (keys <- Seq(1000000, 1000)) {
      def rows() = Array.fill(1000000)(random.nextInt(keys))
      val (left, right) = (rows(), rows())
      val counts = right.groupMapReduce(identity)(_ => 1L)(_ + _)
      val pairs = left.iterator.map(counts.getOrElse(_, 0L)).sum.toDouble
      // One of 8,192 rows shows some 67 pairs of near-unique keys: three in eight is three deviations.
      def some(of: Array[Int]) = of.indices.by(122).map(of).toArray
      val guess = SampledPairs.guess(some(left), left.length, some(right), right.length)
      assert(math.abs(guess / pairs - 1) < (if (keys > 1000) 0.4 else 0.1), s"$guess of $pairs")
    }
  }
}
