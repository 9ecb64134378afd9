// SPDX-License-Identifier: Apache-2.0
// Laws, against a sort by a comparison.
package plait.join

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.LawSuite

class RowsInOrderLaws extends LawSuite {
  private val ranks: Gen[Long] =
    Gen.oneOf(
      Gen.choose(-3L, 3L),
      Gen.choose(Long.MinValue, Long.MaxValue),
      Gen.oneOf(Long.MinValue, Long.MaxValue),
      Gen.choose(1700000000000000L, 1800000000000000L)
    )

  private val rows: Gen[(Int, Seq[(Int, Long)])] = for {
    keys <- Gen.choose(1, 5)
    of <- Gen.oneOf(ranks, Gen.choose(-3L, 3L))
    rows <- Gen.listOf(Gen.zip(Gen.choose(0, keys - 1), of))
  } yield (keys, rows)

  property(
    "each row stands once, and none before one of a lesser key, or of its key and a lesser rank"
  ) {
    forAll(rows) { case (keys, rows) =>
      val found = RowsInOrder.of(keys, rows.map(_._1).toArray, rows.map(_._2).toArray)
      found.sorted.toSeq == rows.indices && found.toSeq.map(rows) == rows.sorted
    }
  }
}
