// SPDX-License-Identifier: Apache-2.0
// Examples and laws; the oracle is NestedLoopJoin over keys and reaches.
package plait.join

import scala.util.Random

import munit.FunSuite

import plait.join.Harness._
import plait.{BySide, Cases, Side}

class BucketJoinOracle extends FunSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  private val joins = Cases.of(50000, soak = 5000000)
  private var clustered = 0L

  /** Rows as their numbers; keys have hashes that meet, in few bits as in all. */
  private class Table(val rows: IndexedSeq[Row], hashOf: Int => Int) extends DealtRows.Source {
    override def count: Int = rows.size
    override def hash(row: Int): Int = hashOf(rows(row).key)
    override def rank(row: Int): Long = rows(row).rank.getOrElse(Rankless.Rank)
    override def handle(row: Int): Long = row.toLong
    def sortedBy(place: Int => Int): Table =
      new Table(rows.sortBy(row => place(row.key)), hashOf)
  }

  /** Rows whose keys come in sequence; some that are not the same stand at one place in it. */
  private class Runs(table: Table, place: Int => Int, moved: Moved) extends MergeJoin.Rows {
    val places: IndexedSeq[Int] = table.rows.map(row => place(row.key))
    require(places == places.sorted)
    override def count: Int = table.count
    override def nextKey(row: Int): Int = {
      val next = places.indexWhere(_ > places(row), row)
      if (next < 0) count else next
    }
    override def rank(row: Int): Long = table.rank(row)
    override def handle(row: Int): Long = {
      assert(moved.isThere(row), "a row is asked for that was passed")
      moved.handle(row)
    }
  }

  /** How often the rows of a side were moved: it is in their handles, and a handle of before is worth nothing. Those that
    * had been passed are gone.
    */
  private class Moved {
    private var times = 0
    private var from = 0
    def again(from: Int): Unit = {
      times += 1
      this.from = from
    }
    def isThere(place: Int): Boolean = place >= from
    def handle(row: Int): Long = times * 1000L + row
    def row(handle: Long): Int = {
      assertEquals(handle / 1000, times.toLong, "a row is asked for where it does not lie any more")
      (handle % 1000).toInt
    }
  }

  /** A join with what its driver holds. */
  private case class Driven(
      tables: BySide[Table],
      core: BucketJoin,
      moved: BySide[Moved],
      isFetched: Long => Boolean,
      kept: Int => Row
  ) {
    def row(side: Side, handle: Long): Row = tables(side).rows(moved(side).row(handle))
  }

  /** Rows as a task has them: it tells of a built row whether it was fetched before it was used. */
  private class Rows(tables: BySide[Table], moved: BySide[Moved], built: Side)
      extends RadixJoin.Touch {
    var probing: () => Long = _
    private var fetched = Set.empty[(Side, Long)]
    private var places = Map.empty[Int, Long]
    def isFetched(handle: Long): Boolean = fetched((built, handle))
    def row(side: Side, handle: Long): Row = tables(side).rows(moved(side).row(handle))
    def kept(place: Int): Row = row(built, places(place))

    override def fetch(side: Side, of: DealtRows, from: Int, until: Int): Unit = {
      if (side == built) places = Map.empty
      assert(moved(side).isThere(from), "a row is fetched that was passed")
      for (place <- from until until)
        of.move(place, moved(side).handle((of.handle(place) % 1000).toInt))
      fetched ++= (from until until).map(place => (side, of.handle(place)))
    }

    override def hasKey(handle: Long): Boolean = {
      assert(isFetched(handle), "a row was not fetched")
      row(built, handle).key == row(built.other, probing()).key
    }

    override def keep(handle: Long, place: Int): Unit = {
      assert(!places.contains(place), "two rows have one place")
      places += place -> handle
    }
  }

  /** By their hashes. */
  private def byHash(
      tables: BySide[Table],
      bits: Int,
      built: Side,
      roles: BySide[Role],
      rankless: Rankless
  ): Driven = {
    val moved = BySide(new Moved, new Moved)
    val rows = new Rows(tables, moved, built)
    val core = new RadixJoin(tables.map(DealtRows.of(_, bits)), built, roles, rankless, rows)
    rows.probing = () => core.probing
    Driven(tables, core, moved, rows.isFetched, rows.kept)
  }

  /** In the sequence of their keys. */
  private def byKey(
      tables: BySide[Table],
      place: Int => Int,
      built: Side,
      roles: BySide[Role],
      rankless: Rankless
  ): Driven = {
    val sorted = tables.map(_.sortedBy(place))
    val moved = BySide(new Moved, new Moved)
    val runs = BySide.make(side => new Runs(sorted(side), place, moved(side)))
    val core = new MergeJoin(
      runs,
      built,
      roles,
      rankless,
      (own, other) => runs(built).places(own).compare(runs(built.other).places(other))
    )
    Driven(sorted, core, moved, _ => true, _ => fail("there are no clusters"))
  }

  /** What comes out of a join that is driven as a task drives it; rows may be moved after each that does. */
  private def outputs(driven: Driven, roles: BySide[Role], random: Random): Seq[Out] = {
    import driven.{core, isFetched, row, tables}
    val often = if (random.nextBoolean()) 4 else 1000
    val built = core.built
    val out = Seq.newBuilder[Out]
    val places = new Array[Int](5)
    def move(): Unit = if (random.nextInt(often) == 0) {
      for (side <- Side.both if random.nextInt(3) > 0)
        driven
          .moved(side)
          .again(if (side == built) core.builtFrom else core.probingFrom)
      core.reload()
    }
    def matched(own: Row, partner: Row): Unit = {
      val (l, r) = if (built == Side.Left) (partner, own) else (own, partner)
      if (roles.left.matches == Matching.Stays) out += Matched(l.id, Some(r.id))
      else if (roles.left != Role.Missing) out += Matched(l.id, None)
      move()
    }
    def probeCluster(own: Row): Unit =
      Iterator.continually(core.nextPlaces(places)).takeWhile(_ > 0).foreach { found =>
        clustered += found
        for (place <- places.take(found) if !core.isSettled) {
          assertEquals(driven.kept(place).key, own.key)
          core.acceptAt(place)
          matched(own, driven.kept(place))
        }
      }
    def probe(): Unit = {
      val own = row(built.other, core.probing)
      assertEquals(
        core.probingRank,
        tables(built.other).rank(driven.moved(built.other).row(core.probing))
      )
      if (core.hasCandidates) own.reach.foreach { case (low, high) =>
        core.look(low, high)
        if (core.enterCluster()) probeCluster(own)
        else
          while (core.nextCandidate()) {
            val partner = row(built, core.candidate)
            assert(isFetched(core.candidate), "a row was not fetched")
            if (core.isKnownEqual) assertEquals(partner.key, own.key, s"seed ${Cases.seed}")
            if (partner.key == own.key) {
              core.foundEqual()
              core.accept()
              matched(own, partner)
            }
          }
      }
      if (core.leavesAtOnce) {
        out += Alone(built.other, own.id)
        move()
      }
    }
    move()
    Iterator.continually(core.step()).takeWhile(_ != BucketJoin.Over).foreach { step =>
      if (step == BucketJoin.Probes) probe()
      else {
        out += Alone(built, row(built, core.leaver).id)
        move()
      }
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
    val keys = 1 + random.nextInt(if (random.nextInt(3) == 0) 3 else hashes.size)
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
    val place: Int => Int = if (random.nextInt(3) == 0) _ / 2 else key => key
    val found = Map(
      "by hash" -> outputs(byHash(tables, bits, built, roles, rankless), roles, random),
      "by key" -> outputs(byKey(tables, place, built, roles, rankless), roles, random)
    )
    for ((how, rows) <- found)
      assertEquals(sorted(rows), expected, s"seed ${Cases.seed}, $roles, built $built, $how")
    expected.size
  }

  test(s"$joins random joins of every type, by hash and by key, give the rows of the nested loop") {
    val random = new Random(Cases.seed)
    val rows = Iterator.fill(joins)(check(random).toLong).sum
    assert(rows > joins * 5L, s"the cases are too poor: $rows rows of $joins joins")
    assert(clustered > joins, s"the cases are too poor: $clustered candidates in clusters")
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

  /** The steps of a full join by key, built left; alone or with its candidates. */
  private def steps(left: Seq[Int], right: Seq[Int]): Seq[String] = {
    def rows(keys: Seq[Int]) =
      keys.toIndexedSeq.zipWithIndex.map { case (key, id) => Row(id, key, Some(5), Some((0, 9))) }
    val tables = BySide(new Table(rows(left), identity), new Table(rows(right), identity))
    val roles = BySide(Role.Preserved, Role.Preserved)
    val core = byKey(tables, identity, Side.Left, roles, Rankless.Dead).core
    Iterator
      .continually(core.step())
      .takeWhile(_ != BucketJoin.Over)
      .map { step =>
        if (step == BucketJoin.Leaves) s"left ${core.leaver}"
        else {
          core.look(0, 9)
          val candidates =
            Iterator.continually(core.nextCandidate()).takeWhile(identity).map(_ => core.candidate)
          val partners = candidates.map { id => core.accept(); id }.mkString(" ")
          s"right ${core.probing}: $partners".trim
        }
      }
      .toSeq
  }

  test("1 1 | 3 | 4 4 | 6 by key with 2 | 3 | 4: a row alone comes out when its key is passed") {
    assertEquals(
      steps(Seq(1, 1, 3, 4, 4, 6), Seq(2, 3, 4)),
      Seq("left 0", "left 1", "right 0:", "right 1: 2", "right 2: 3 4", "left 5")
    )
    assertEquals(steps(Nil, Seq(2, 2)), Seq("right 0:", "right 1:"))
    assertEquals(steps(Seq(2, 2), Nil), Seq("left 0", "left 1"))
    assertEquals(steps(Nil, Nil), Nil)
  }

  test("a key of more rows than were made room for is joined whole: 1,000 and 1,000") {
    val keys = Seq.fill(1000)(7)
    val found = steps(keys, keys)
    assertEquals(found.size, 1000)
    assertEquals(found.map(_.split(' ').length).toSet, Set(1002))
  }

  test(
    "two keys of one hash: the first row of a key is compared with all of it, those behind with one"
  ) {
    val rows = IndexedSeq.tabulate(100)(id => Row(id, id % 2, Some(5), Some((0, 9))))
    val tables = BySide(new Table(rows, _ => 7), new Table(rows, _ => 7))
    val roles = BySide(Role.Paired, Role.Paired)
    val core = byHash(tables, 1, Side.Left, roles, Rankless.Dead).core
    var equal = 0
    var compared = 0
    while (core.step() == BucketJoin.Probes) {
      core.look(0, 9)
      while (core.nextCandidate())
        if (core.isKnownEqual) equal += 1
        else {
          compared += 1
          if (core.candidate % 2 == core.probing % 2) {
            equal += 1
            core.foundEqual()
          }
        }
    }
    assertEquals(equal, 100 * 50)
    // Of the other key each time, of the own one first for all and then once for each row.
    assertEquals(compared, 100 * 50 + 2 * 50 + 98)
  }

  test("a bucket has some 4,096 rows of both sides, and there are at most 4,096 buckets") {
    assertEquals(
      Seq(0L, 4096L, 8192L, 8193L, 4000000L, 1L << 40).map(DealtRows.bitsFor),
      Seq(1, 1, 1, 2, 10, 12)
    )
  }

  test(
    "pairs of all rows are counted: {1, 1, 2} and {1, 2, 2, 3} have 2 + 2, and 2 is twice in one"
  ) {
    assertEquals(guess(Array(2, 1, 1), Array(3, 2, 1, 2)), SampledPairs(4, 4, 3, 3, BySide(2, 2)))
    assertEquals(guess(Array.empty, Array(1)), SampledPairs(0, 0, 0, 0, BySide(0, 1)))
    // Of 20 rows two each: all have one key, and the first that a left row is compared with is its partner.
    assertEquals(
      guess(Array(1, 1), Array(1, 1), 20),
      SampledPairs(400, 400, 20, 20, BySide(20, 20))
    )
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
      val guessed = guess(some(left), some(right), left.length.toLong)
      val found = guessed.equal
      assert(
        guessed.largest.right >= counts.values.max && guessed.largest.right < 10000,
        s"$guessed"
      )
      assert(math.abs(found / pairs - 1) < (if (keys > 1000) 0.4 else 0.1), s"$found of $pairs")
    }
  }

  test(
    "pairs = those of equal hashes; reached = those of them with low <= rank <= high; largest = rows of a hash"
  ) {
    val random = new Random(Cases.seed)
    for (_ <- 1 to 300) {
      def numbers(n: Int, most: Int) = Array.fill(n)(random.nextInt(most))
      val (l, r) = (random.nextInt(40), random.nextInt(40))
      val (left, right) = (numbers(l, 5), numbers(r, 5))
      val (low, high, ranks) = (numbers(l, 20), numbers(l, 20), numbers(r, 20))
      val all = for (i <- 0 until l; j <- 0 until r if left(i) == right(j)) yield (i, j)
      val reached = all.filter { case (i, j) => low(i) <= ranks(j) && ranks(j) <= high(i) }
      // By the definition: the mean place of the first that is reached, over all places that it may have.
      val tried = all.groupBy(_._1).toSeq.sortBy(_._1).map { case (i, pairs) =>
        val within = reached.count(_._1 == i)
        (pairs.size + 1.0) / (within + 1.0)
      }
      def largest(of: Array[Int]) = of.map(h => of.count(_ == h)).maxOption.getOrElse(0).toDouble
      assertEquals(
        SampledPairs.guess(
          SampledPairs.Sample(left, low.map(_.toLong), high.map(_.toLong), l.toLong),
          SampledPairs.Sample(right, ranks.map(_.toLong), ranks.map(_.toLong), r.toLong)
        ),
        SampledPairs(
          all.size.toDouble,
          reached.size.toDouble,
          tried.sum,
          reached.map(_._1).distinct.size.toDouble,
          BySide(largest(left), largest(right))
        )
      )
    }
  }

  test("tried is guessed within a factor of three where of 200 rows of a key one or none is seen") {
    val random = new Random(Cases.seed)
    val (keys, each) = (10000, 244)
    def sample() = Array.fill(keys * 200 / each)(random.nextInt(keys))
    for (share <- Seq(1.0, 0.5, 0.1)) {
      val (left, right) = (sample(), sample())
      val places = Array.fill(right.length)(random.nextInt(1000).toLong)
      val from = Array.fill(left.length)(random.nextInt(1000 - (share * 1000).toInt + 1).toLong)
      val guessed = SampledPairs.guess(
        SampledPairs.Sample(left, from, from.map(_ + (share * 1000).toLong - 1), keys * 200L),
        SampledPairs.Sample(right, places, places, keys * 200L)
      )
      // Of left rows with a partner that was seen; those are the ones that count.
      val seen = left.count(right.toSet) * each.toDouble
      val tried = seen * 201 / (200 * share + 1)
      assert(guessed.tried < 3 * tried && guessed.tried > tried / 3, s"$share: $guessed of $tried")
    }
  }

  /** Of rows that reach all. */
  private def guess(left: Array[Int], right: Array[Int], rows: Long = -1): SampledPairs = {
    def sample(hashes: Array[Int]) = SampledPairs.Sample(
      hashes,
      hashes.map(_ => 0L),
      hashes.map(_ => 0L),
      if (rows < 0) hashes.length.toLong else rows
    )
    SampledPairs.guess(sample(left), sample(right))
  }
}
