// SPDX-License-Identifier: Apache-2.0
// Laws.
package plait.order

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.Rational
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
    coefficients <- Gen.listOfN(
      count,
      Gen.oneOf(Gen.oneOf(-2L, -1L, 1L, 2L, 86400000000L), long.filter(_ != 0))
    )
    constant <- long
    openness <- Gen.oneOf(Openness.Open, Openness.Closed)
    divisor <- Gen.frequency(2 -> Gen.const(1L), 2 -> Gen.choose(2L, 7L), 1 -> long.map(_.max(1L)))
    terms = coefficients.zipWithIndex.map(_.swap)
  } yield (WholeFormula(constant, terms, openness, divisor), values.toArray)

  private def exact(f: WholeFormula, values: Array[Long]): Rational = Rational(
    f.terms.foldLeft(BigInt(f.constant)) { case (sum, (i, k)) => sum + BigInt(k) * values(i) },
    f.divisor
  )

  property("an upper end is no less than the exact one, where that is a long") {
    forAll(formula) { case (f, values) =>
      val at = exact(f, values)
      val end = if (f.openness == Openness.Open) at.ceiling - 1 else at.floor
      end < Long.MinValue || f.at(values, High) == Long.MaxValue || end <= f.at(values, High)
    }
  }

  property("a lower end is no more than the exact one, where that is a long") {
    forAll(formula) { case (f, values) =>
      val at = exact(f, values)
      val end = if (f.openness == Openness.Open) at.floor + 1 else at.ceiling
      end > Long.MaxValue || f.at(values, Low) == Long.MinValue || end >= f.at(values, Low)
    }
  }

  property("a long inside the exact end is inside the computed one") {
    forAll(formula, long) { case ((f, values), at) =>
      val x = Rational(at)
      val end = exact(f, values)
      val (below, above) =
        if (f.openness == Openness.Open) (x < end, x > end) else (x <= end, x >= end)
      (!below || at <= f.at(values, High)) && (!above || at >= f.at(values, Low))
    }
  }

  property("far from the limits both ends are exact") {
    val small = Gen.choose(-1000000L, 1000000L)
    forAll(small, small, small, Gen.choose(1L, 9L)) { (c, x, y, d) =>
      def at(openness: Openness) = WholeFormula(c, Seq(0 -> 1L, 1 -> -20L), openness, d)
      val sum = Rational(c + x - 20 * y, d)
      at(Openness.Closed).at(Array(x, y), High) == sum.floor.toLong &&
      at(Openness.Closed).at(Array(x, y), Low) == sum.ceiling.toLong &&
      at(Openness.Open).at(Array(x, y), High) == sum.ceiling.toLong - 1 &&
      at(Openness.Open).at(Array(x, y), Low) == sum.floor.toLong + 1
    }
  }

  property("a distance is the exact one, or the greatest long where that does not fit") {
    forAll(long, long) { (x, y) =>
      val (from, to) = (math.min(x, y), math.max(x, y))
      BigInt(Saturating.distance(from, to)) == (BigInt(to) - BigInt(from)).min(Long.MaxValue)
    }
  }

  property("a descending rank turns the order of values round, at the limits too") {
    forAll(long, long) { (x, y) =>
      (x < y) == (Direction.Descending.rank(x) > Direction.Descending.rank(y)) &&
      (x < y) == (Direction.Ascending.rank(x) < Direction.Ascending.rank(y))
    }
  }
}
