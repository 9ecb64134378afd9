// SPDX-License-Identifier: Apache-2.0
// Laws.
package plait.order

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.order.ReachEnd.{High, Low, Openness, WholeFormula}

class SaturatingLaws extends LawSuite {
  private val long: Gen[Long] = Gen.frequency(
    4 -> Gen.choose(-10L, 10L),
    2 -> Gen.choose(Long.MinValue, Long.MaxValue),
    2 -> Gen.choose(Long.MaxValue - 5, Long.MaxValue),
    2 -> Gen.choose(Long.MinValue, Long.MinValue + 5)
  )

  private val formula: Gen[(WholeFormula, Array[Long])] = for {
    count <- Gen.choose(0, 4)
    values <- Gen.listOfN(count, long)
    coefficients <- Gen.listOfN(count, Gen.oneOf(-2, -1, 1, 2))
    constant <- long
    openness <- Gen.oneOf(Openness.Open, Openness.Closed)
  } yield (WholeFormula(constant, coefficients.zipWithIndex.map(_.swap), openness), values.toArray)

  private def exact(f: WholeFormula, values: Array[Long]): BigInt =
    f.terms.foldLeft(BigInt(f.constant)) { case (sum, (i, k)) => sum + BigInt(k) * values(i) }

  property("an upper end is no less than the exact one, where that is a long") {
    forAll(formula) { case (f, values) =>
      val end = exact(f, values) - (if (f.openness == Openness.Open) 1 else 0)
      end < Long.MinValue || f.at(values, High) == Long.MaxValue || end <= f.at(values, High)
    }
  }

  property("a lower end is no more than the exact one, where that is a long") {
    forAll(formula) { case (f, values) =>
      val end = exact(f, values) + (if (f.openness == Openness.Open) 1 else 0)
      end > Long.MaxValue || f.at(values, Low) == Long.MinValue || end >= f.at(values, Low)
    }
  }

  property("a long inside the exact end is inside the computed one") {
    forAll(formula, long) { case ((f, values), x) =>
      val end = exact(f, values)
      val (below, above) =
        if (f.openness == Openness.Open) (x < end, x > end) else (x <= end, x >= end)
      (!below || x <= f.at(values, High)) && (!above || x >= f.at(values, Low))
    }
  }

  property("far from the limits both ends are exact") {
    val small = Gen.choose(-1000000L, 1000000L)
    forAll(small, small, small) { (c, x, y) =>
      val f = WholeFormula(c, Seq(0 -> 1, 1 -> -2), Openness.Closed)
      val sum = c + x - 2 * y
      f.at(Array(x, y), High) == sum && f.at(Array(x, y), Low) == sum
    }
  }

  property("a descending rank turns the order of values round, at the limits too") {
    forAll(long, long) { (x, y) =>
      (x < y) == (Direction.Descending.rank(x) > Direction.Descending.rank(y)) &&
      (x < y) == (Direction.Ascending.rank(x) < Direction.Ascending.rank(y))
    }
  }
}
