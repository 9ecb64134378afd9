// SPDX-License-Identifier: Apache-2.0
// Laws and examples.
package plait.order

import java.util.SplittableRandom

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.constraint.{Doubles, RealFormula}
import plait.interval.{Domain, Rational}
import plait.order.Outward.{Down, Up}

class OutwardLaws extends LawSuite {
  private def pairs(f: SplittableRandom => Double): Gen[(Double, Double)] =
    Doubles.cases { random =>
      val x = f(random)
      (x, if (random.nextInt(3) == 0) x * (random.nextDouble() - 0.5) * 1e-10 else f(random))
    }

  private val finite = pairs { random =>
    val x = Doubles.double(random)
    if (x.isInfinite) 1.0 else x
  }

  /** What is infinite is beyond every sum of finite doubles. */
  private def exact(x: Double): Rational =
    if (x.isInfinite) Doubles.number(x) * Rational(4) else Doubles.number(x)

  property("x + y lies between their sums down and up, and these are neighbours at most") {
    forAll(finite) { case (x, y) =>
      val sum = exact(x) + exact(y)
      val (down, up) = (Down.add(x, y), Up.add(x, y))
      exact(down) <= sum && sum <= exact(up) && (down == up || Math.nextUp(down) >= up ||
        down == Double.MaxValue || up == -Double.MaxValue)
    }
  }

  property("a sum that is exact is not moved") {
    forAll(Gen.choose(-1000000, 1000000), Gen.choose(-1000000, 1000000)) { (a, b) =>
      Down.add(a / 4.0, b / 4.0) == (a + b) / 4.0 && Up.add(a / 4.0, b / 4.0) == (a + b) / 4.0
    }
  }

  property("what is rounded to x lies between the next doubles, and the next floats") {
    forAll(finite) { case (x, y) =>
      val sum = exact(x) + exact(y)
      val double = x + y
      val float = Domain.Float.exactly(Domain.Float.nearest(sum))
      def holds(rounded: Double, down: Double, up: Double) =
        rounded.isInfinite || (exact(down) <= sum && sum <= exact(up))
      holds(double, Down.next(double), Up.next(double)) &&
      holds(float, Down.nextFloat(float), Up.nextFloat(float))
    }
  }

  property("a sum that is rounded to infinity is not below what lies before it") {
    forAll(finite) { case (x, y) =>
      (x + y) != Double.PositiveInfinity ||
      exact(Down.next(Double.PositiveInfinity)) <= exact(x) + exact(y)
    }
  }

  private val decimals = for {
    precision <- Gen.choose(1, 38)
    scale <- Gen.choose(0, precision)
    unscaled <- Gen.oneOf(
      Gen.choose(-1000L, 1000L).map(BigInt(_)),
      Gen.choose(Long.MinValue, Long.MaxValue).map(BigInt(_) * Long.MaxValue)
    )
  } yield (Domain.Decimal(precision, scale), unscaled % BigInt(10).pow(precision))

  private def rankOf(decimal: Domain.Decimal, unscaled: BigInt): Long =
    if (decimal.precision <= 18) unscaled.toLong
    else Rank.ofLongDecimal(unscaled.bigInteger, decimal.precision)

  property("decimals: a value lies between its rank's values, and its rank between theirs") {
    forAll(decimals, Gen.choose(-3.0, 3.0)) { case ((decimal, unscaled), off) =>
      val value = Rational.scaled(unscaled, decimal.scale)
      val rank = rankOf(decimal, unscaled)
      val of = RealRank.of(decimal).get
      val x = Domain.Double.exactly(Domain.Double.nearest(value)) + off
      exact(of.value(rank, Down)) <= value && value <= exact(of.value(rank, Up)) &&
      (exact(x) > value || of.rank(x, Down) <= rank) &&
      (exact(x) < value || of.rank(x, Up) >= rank)
    }
  }

  private val integers = for {
    near <- Gen.oneOf(0L, 1L << 53, -(1L << 53), 1L << 60)
    step <- Gen.oneOf(Gen.choose(-9L, 9L), Gen.choose(Long.MinValue, Long.MaxValue))
  } yield near + step

  property("integers: a value lies between its rank's values, and its rank between theirs") {
    forAll(integers) { rank =>
      val of = RealRank.of(Domain.Long).get
      val (down, up) = (of.value(rank, Down), of.value(rank, Up))
      exact(down) <= Rational(rank) && Rational(rank) <= exact(up) &&
      of.rank(down, Down) <= rank && rank <= of.rank(up, Up)
    }
  }

  property("doubles: the rank's value is the value") {
    forAll(finite) { case (x, _) =>
      val of = RealRank.of(Domain.Double).get
      Seq(Down, Up).forall(way => of.value(Rank.ofDouble(x), way) == x) &&
      Seq(Down, Up).forall(way => of.rank(x, way) == Rank.ofDouble(x))
    }
  }

  test("2^53 + 1, which no double is, lies between 2^53 and 2^53 + 2; 1.25 of decimals near 1.25") {
    val integers = RealRank.of(Domain.Long).get
    val odd = (1L << 53) + 1
    assertEquals(integers.value(odd, Up), 9007199254740994.0)
    assertEquals(integers.value(-odd, Down), -9007199254740994.0)
    val decimals = RealRank.of(Domain.Decimal(9, 2)).get
    assert(decimals.value(125, Down) < 1.25 && decimals.value(125, Down) > 1.2499999999)
    assertEquals(decimals.rank(1.25, Up), 125L)
    assertEquals(decimals.rank(1.25, Down), 125L)
  }

  test("a constant beyond the greatest double lies between it and infinity") {
    val twice = Rational.of(Double.MaxValue) * Rational(2)
    RealFormula.number(twice, Domain.Integer) match {
      case RealFormula.Number(_, below, above) =>
        assertEquals((below, above), (Double.MaxValue, Double.PositiveInfinity))
      case other => fail(s"$other")
    }
  }

  test("NaN and what is infinite on both sides say nothing: no end") {
    val of = RealRank.of(Domain.Long).get
    for (x <- Seq(Double.NaN, Down.add(Double.PositiveInfinity, Double.NegativeInfinity))) {
      assertEquals(of.rank(x, Down), Long.MinValue)
      assertEquals(of.rank(x, Up), Long.MaxValue)
    }
  }

  test("1e17 - 40 down is 99999999999999952, the double below it") {
    assertEquals(Down.add(1e17, -40), 99999999999999952.0)
    assertEquals(Up.add(1e17, -40), 99999999999999968.0)
  }
}
