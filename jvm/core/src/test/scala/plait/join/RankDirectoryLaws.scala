// SPDX-License-Identifier: Apache-2.0
// Examples and laws; the oracle is the definition, a look at all ranks of the key.
package plait.join

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.LawSuite

class RankDirectoryLaws extends LawSuite {
  private def directory(ranksOf: Seq[Seq[Long]]): (RankDirectory, Array[Int], Array[Long]) = {
    val begins = ranksOf.scanLeft(0)(_ + _.size).toArray
    val ranks = ranksOf.flatMap(_.sorted).toArray
    (RankDirectory.of(begins, ranks), begins, ranks)
  }

  private val rank: Gen[Long] = Gen.oneOf(
    Gen.choose(0L, 60L),
    Gen.choose(-1000000L, 1000000L),
    Gen.oneOf(Long.MinValue, -1L, 0L, Long.MaxValue),
    Gen.choose(Long.MinValue, Long.MaxValue)
  )
  private val ranksOf: Gen[Seq[Long]] =
    Gen.choose(0, 300).flatMap(Gen.listOfN(_, rank))

  test(
    "of 3 4 9 14 16 21 the ranks at most 15 end in the bucket of 15 to 18, between places 4 and 5"
  ) {
    val (found, _, _) = directory(Seq(Seq(3, 4, 9, 14, 16, 21)))
    assertEquals((found.below(0, 15), found.above(0, 15)), (4, 5))
  }

  test("two ranks far from 1,000 others leave these in buckets of a few") {
    val (found, _, _) = directory(Seq(Long.MinValue +: (1L to 1000L) :+ Long.MaxValue))
    val widths = (1 to 1000).map(rank => found.above(0, rank) - found.below(0, rank))
    assertEquals(widths.count(_ <= 2), 970)
  }

  property(
    "what stands before below(k, r) is less than r, what stands from above(k, r) on is greater"
  ) {
    forAll(Gen.listOfN(3, ranksOf), Gen.listOfN(10, rank)) { (keys, asked) =>
      val (found, begins, ranks) = directory(keys)
      for (key <- keys.indices; limit <- asked) {
        val (below, above) = (found.below(key, limit), found.above(key, limit))
        assert(begins(key) <= below && below <= above && above <= begins(key + 1))
        assert((begins(key) until below).forall(ranks(_) < limit))
        assert((above until begins(key + 1)).forall(ranks(_) > limit))
      }
    }
  }
}
