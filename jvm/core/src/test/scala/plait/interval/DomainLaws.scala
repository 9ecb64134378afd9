// SPDX-License-Identifier: Apache-2.0
// Laws. The arithmetic of the JVM says what a double, a float and a decimal round to.
package plait.interval

import java.math.{BigDecimal => JavaDecimal, RoundingMode}
import java.util.Arrays

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.Doubles.{finite, finiteFloat}
import plait.interval.Sets._

class DomainLaws extends LawSuite {
  private val Doubles64 = Domain.Double
  private val Floats = Domain.Float
  private val numbers: Gen[Rational] =
    Gen.frequency(3 -> finite.map(Doubles.number), 2 -> number)

  private def isTight(domain: Domain, set: IntervalSet): Boolean =
    set.spans.forall(s => Seq(s.lower, s.upper).forall(!_.isInstanceOf[Bound.Open[_]])) &&
      domain.tighten(set) == set

  property("integers: tighten keeps each whole member, and its ends are whole") {
    forAll(whole.flatMap(x => around(x, number).map((_, x)))) { case (a, x) =>
      val tight = Domain.Long.tighten(a)
      tight.contains(x) && isTight(Domain.Long, tight) &&
      tight.spans.forall(s =>
        Seq(s.lower, s.upper).forall(b => !b.isBounded || Bound.at(b).isWhole)
      )
    }
  }

  property("doubles: tighten keeps each double, and its ends are doubles") {
    forAll(finite.map(Doubles.number).flatMap(x => around(x, numbers).map((_, x)))) { case (a, x) =>
      val tight = Doubles64.tighten(a)
      tight.contains(x) && isTight(Doubles64, tight) &&
      tight.spans.forall(s =>
        Seq(s.lower, s.upper).map(Bound.at).forall(y => Doubles64.down(y) == y)
      )
    }
  }

  property("decimal(9, 2): tighten keeps each decimal; 3.14 is one and 22/7 is none") {
    val decimal = Domain.Decimal(9, 2)
    forAll(
      Gen.choose(-999, 999).map(Rational.scaled(_, 2)).flatMap(x => around(x, number).map((_, x)))
    ) { case (a, x) =>
      val tight = decimal.tighten(a)
      tight.contains(x) && isTight(decimal, tight) &&
      decimal.tighten(IntervalSet.point(Rational(BigInt(22), BigInt(7)))).isEmpty
    }
  }

  property("doubles: x + y, x - y, x * y and x / y are the nearest to the exact ones") {
    forAll(finite, finite) { (x, y) =>
      val (a, b) = (Rational.of(x), Rational.of(y))
      val results = Seq((a + b, x + y), (a - b, x - y), (a * b, x * y)) ++
        Option.when(y != 0)((a / b, x / y))
      results.forall { case (exact, z) =>
        val value = Doubles.number(z)
        Doubles64.nearest(exact) == value &&
        Doubles64.round(IntervalSet.point(exact)).contains(value) &&
        Doubles64.unround(IntervalSet.point(value)).contains(exact)
      }
    }
  }

  property("floats: x + y, x - y, x * y and x / y are the nearest to the exact ones") {
    forAll(finiteFloat, finiteFloat) { (x, y) =>
      val (a, b) = (Rational.of(x.toDouble), Rational.of(y.toDouble))
      val results = Seq((a + b, x + y), (a - b, x - y), (a * b, x * y)) ++
        Option.when(y != 0)((a / b, x / y))
      results.forall { case (exact, z) =>
        val value = Doubles.number(z)
        Floats.nearest(exact) == value && Floats.unround(IntervalSet.point(value)).contains(exact)
      }
    }
  }

  property("a double as a float, and its neighbours: (float) x, nextDown, nextUp") {
    forAll(finite, finiteFloat) { (x, y) =>
      Floats.nearest(Rational.of(x)) == Doubles.number(x.toFloat) &&
      Doubles64.before(Rational.of(x)) == Doubles.number(Math.nextDown(x)) &&
      Doubles64.after(Rational.of(x)) == Doubles.number(Math.nextUp(x)) &&
      Floats.before(Doubles.number(y)) == Doubles.number(Math.nextDown(y)) &&
      Floats.after(Doubles.number(y)) == Doubles.number(Math.nextUp(y))
    }
  }

  property("down(x) <= x <= up(x), both doubles, and nothing between them but x") {
    forAll(numbers, numbers) { (x, y) =>
      val middle = (x + y) / Rational(2)
      val (down, up) = (Doubles64.down(middle), Doubles64.up(middle))
      down <= middle && middle <= up && (down == up || Doubles64.after(down) == up)
    }
  }

  property("sets of doubles: a member rounded is in round, and its set unrounded holds it") {
    forAll(numbers.flatMap(x => around(x, numbers).map((_, x)))) { case (a, x) =>
      val value = Doubles64.nearest(x)
      Doubles64.round(a).contains(value) &&
      Doubles64.unround(Doubles64.round(a)).contains(x)
    }
  }

  property("decimals: a result rounded half up, half even, up or down is in round; and back") {
    forAll(
      Gen.choose(0, 4),
      Gen.choose(-99999999L, 99999999L),
      Gen.oneOf(RoundingMode.values.toSeq.filter(_ != RoundingMode.UNNECESSARY)),
      set(number)
    ) { (scale, unscaled, mode, others) =>
      val exact = JavaDecimal.valueOf(unscaled, 6)
      val rounded = Rational.of(BigDecimal(exact.setScale(scale, mode)))
      val (x, domain) = (Rational.of(BigDecimal(exact)), Domain.Decimal(12, scale))
      domain.round(others.union(IntervalSet.point(x))).contains(rounded) &&
      domain.unround(others.union(IntervalSet.point(rounded))).contains(x)
    }
  }

  property("widen by 2 holds the two doubles on either side") {
    forAll(finite) { x =>
      val wide = Doubles64.widen(IntervalSet.point(Rational.of(x)), values = 2)
      wide.contains(Doubles.number(Math.nextUp(Math.nextUp(x)))) &&
      wide.contains(Doubles.number(Math.nextDown(Math.nextDown(x))))
    }
  }

  private val bytes: Gen[Array[Byte]] = Gen
    .choose(0, 5)
    .flatMap(Gen.listOfN(_, Gen.oneOf(Seq(0, 1, 97, 98, 127, -128, -1)).map(_.toByte)))
    .map(_.toArray)

  property("texts: the order of the numbers is that of the bytes, unsigned") {
    forAll(bytes, bytes) { (a, b) =>
      Domain.Text.number(a).compare(Domain.Text.number(b)).sign ==
        Arrays.compareUnsigned(a, b).sign &&
        Domain.Text.everything.contains(Domain.Text.number(a))
    }
  }

  test("(3, 7.5) of bytes is [4, 7]; of decimal(9, 1) it is [3.1, 7.4]") {
    val set = IntervalSet.span(Bound.Open(Rational(3)), Bound.Open(Rational.of(7.5)))
    assertEquals(Domain.Byte.tighten(set), IntervalSet.closed(Rational(4), Rational(7)))
    assertEquals(
      Domain.Decimal(9, 1).tighten(set),
      IntervalSet.closed(Rational.scaled(31, 1), Rational.scaled(74, 1))
    )
  }

  test("(0, 1) of booleans is empty") {
    val between = IntervalSet.span(Bound.Open(Rational.Zero), Bound.Open(Rational.One))
    assertEquals(Domain.Boolean.tighten(between), IntervalSet.Empty)
  }
}
