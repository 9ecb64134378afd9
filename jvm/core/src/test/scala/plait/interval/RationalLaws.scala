// SPDX-License-Identifier: Apache-2.0
// Laws.
package plait.interval

import java.math.{BigDecimal => JavaDecimal}

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite

class RationalLaws extends LawSuite {
  private val large: Gen[BigInt] = for {
    bits <- Gen.choose(1, 130)
    sign <- Gen.oneOf(-1, 1)
    fill <- Gen.long
  } yield sign * ((BigInt(1) << bits) + fill % 3)

  private val integer: Gen[BigInt] =
    Gen.frequency(5 -> Gen.choose(-12, 12).map(BigInt(_)), 2 -> large)

  private val rational: Gen[Rational] =
    for { n <- integer; d <- integer.suchThat(_ != 0) } yield Rational(n, d)

  private def fraction(n: BigInt, d: BigInt) = Rational(n, d)

  property("lowest terms: the denominator is positive, and shares no divisor with the numerator") {
    forAll(rational)(x => x.denominator > 0 && x.numerator.gcd(x.denominator) == 1)
  }

  property("a/b + c/d = (ad + cb) / bd, and so for -, * and /") {
    forAll(rational, rational) { (x, y) =>
      val (a, b, c, d) = (x.numerator, x.denominator, y.numerator, y.denominator)
      x + y == fraction(a * d + c * b, b * d) &&
      x - y == fraction(a * d - c * b, b * d) &&
      x * y == fraction(a * c, b * d) &&
      (c == 0 || x / y == fraction(a * d, b * c))
    }
  }

  property("a/b < c/d if and only if ad < cb; equal numbers have equal hashes") {
    forAll(rational, rational) { (x, y) =>
      val order = (x.numerator * y.denominator).compare(y.numerator * x.denominator)
      math.signum(x.compare(y)) == math.signum(order) &&
      (x == y) == (order == 0) && (x != y || x.hashCode == y.hashCode)
    }
  }

  property("floor <= x < floor + 1, ceiling - 1 < x <= ceiling") {
    forAll(rational) { x =>
      Rational(x.floor) <= x && x < Rational(x.floor + 1) &&
      Rational(x.ceiling - 1) < x && x <= Rational(x.ceiling)
    }
  }

  property("x - y + y = x, x / y * y = x, -(-x) = x, |x| >= 0") {
    forAll(rational, rational) { (x, y) =>
      x - y + y == x && (y.signum == 0 || x / y * y == x) && -(-x) == x && x.abs.signum >= 0
    }
  }

  property("the number of a double is the number that BigDecimal says it is") {
    forAll(Gen.long.map(java.lang.Double.longBitsToDouble)) { d =>
      d.isNaN || d.isInfinite || Rational.of(d) == Rational.of(BigDecimal(new JavaDecimal(d)))
    }
  }

  property("whole numbers of 64 bits meet at the limits without wrapping") {
    forAll(Gen.long, Gen.oneOf(Long.MaxValue, Long.MinValue, -1L, 1L, 0L)) { (x, y) =>
      val (a, b) = (Rational(x), Rational(y))
      (a + b).numerator == BigInt(x) + BigInt(y) && (a - b).numerator == BigInt(x) - BigInt(y) &&
      (a * b).numerator == BigInt(x) * BigInt(y) && (-a).numerator == -BigInt(x) &&
      a.compare(b).sign == x.compare(y).sign && a == Rational(BigInt(x)) &&
      a.hashCode == (a + b - b).hashCode
    }
  }

  test("-7/2: floor -4, ceiling -3; 0/5 is 0/1; 1/0 is refused") {
    assertEquals(Rational(BigInt(-7), BigInt(2)).floor, BigInt(-4))
    assertEquals(Rational(BigInt(-7), BigInt(2)).ceiling, BigInt(-3))
    assertEquals(Rational(BigInt(0), BigInt(5)).denominator, BigInt(1))
    intercept[ArithmeticException](Rational(BigInt(1), BigInt(0)))
  }

  property(
    "rounded down to so many digits: not above, and less by less than a part of 2^(1 - digits)"
  ) {
    forAll(rational, Gen.choose(1, 70)) { (x, digits) =>
      val y = x.roundedDown(digits)
      val written = y.numerator.abs
      y <= x && (x - y) * Rational(BigInt(1) << (digits - 1)) <= x.abs &&
      (written.signum == 0 || (written >> written.lowestSetBit).bitLength <= digits + 1)
    }
  }
}
