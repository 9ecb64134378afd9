// SPDX-License-Identifier: Apache-2.0
// Laws, against a sequence that is sorted anew; and what many rows of one rank take.
package plait.join

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.LawSuite

class RunLaws extends LawSuite(test = 5000, soak = 50000) {

  /** What a run holds, by slot. */
  private def held(run: Run): Seq[(Long, Int)] =
    (run.from until run.until)
      .filter(run.entry(_) != Run.Hole)
      .map(s => (run.rank(s), run.entry(s)))

  private val ranks: Gen[Seq[Long]] = for {
    count <- Gen.frequency(49 -> Gen.choose(1, 60), 1 -> Gen.choose(100, 300))
    ranks <- Gen.listOfN(count, Gen.choose(0L, 6L))
  } yield ranks

  property(
    "a run holds what was inserted and not removed, by rank, whatever is removed after what"
  ) {
    forAll(ranks, Gen.long) { (ranks, seed) =>
      val run = new Run
      val random = new scala.util.Random(seed)
      var all = Vector.empty[(Long, Int)]
      for ((rank, entry) <- ranks.zipWithIndex) {
        run.insert(rank, entry)
        all :+= rank -> entry
        if (random.nextInt(3) == 0) {
          val gone = all(random.nextInt(all.size))
          run.remove(gone._1, gone._2)
          all = all.filter(_ != gone)
        }
        assertEquals(held(run).sorted, all.sorted)
        assertEquals(held(run).map(_._1), all.map(_._1).sorted)
        assertEquals(run.size, all.size)
      }
      for (gone <- random.shuffle(all)) {
        run.remove(gone._1, gone._2)
        all = all.filter(_ != gone)
        assertEquals(held(run).sorted, all.sorted)
      }
      assert(run.isEmpty)
    }
  }
}

/** With a step for each row that stays, a million take ten minutes and not the half a minute that munit gives. */
class RunTiesSuite extends munit.FunSuite {
  for (
    (how, sequence) <- Seq[(String, Seq[Int] => Seq[Int])](
      "the first first" -> identity,
      "the last first" -> (_.reverse),
      "every other one, the last first" -> (all => all.filter(_ % 2 == 0).reverse),
      "in any order" -> (new scala.util.Random(7).shuffle(_)),
      "every other one, in any order" ->
        (all => new scala.util.Random(7).shuffle(all.filter(_ % 2 == 0)))
    )
  )
    test(s"1,000,000 rows of one rank leave in no time, $how") {
      val run = new Run
      val entries = 0 until 1000000
      entries.foreach(run.insert(7L, _))
      sequence(entries).foreach(run.remove(7L, _))
      assertEquals(run.size, entries.size - sequence(entries).size)
    }
}
