// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for tightness.
package plait.interval

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.FieldOperation._
import plait.interval.Sets._
import plait.interval.StepOperation._

class RealOperationLaws extends LawSuite {

  /** Fractions as pairs: what the operations should give, without their arithmetic. */
  private type Fraction = (BigInt, BigInt)
  private def pair(x: Rational): Fraction = (x.numerator, x.denominator)
  private def plus(a: Fraction, b: Fraction): Fraction = (a._1 * b._2 + b._1 * a._2, a._2 * b._2)
  private def negated(a: Fraction): Fraction = (-a._1, a._2)
  private def times(a: Fraction, b: Fraction): Fraction = (a._1 * b._1, a._2 * b._2)
  private def over(a: Fraction, b: Fraction): Option[Fraction] =
    if (b._1 == 0) None else Some((a._1 * b._2, a._2 * b._1))
  private def toZero(a: Fraction): Fraction = (a._1 / a._2, BigInt(1))
  private def isNegative(a: Fraction) = a._1.signum * a._2.signum < 0
  private def down(a: Fraction): Fraction = {
    val (whole, rest) = (a._1 / a._2, a._1 % a._2)
    (if (rest != 0 && isNegative(a)) whole - 1 else whole, BigInt(1))
  }
  private def up(a: Fraction): Fraction = negated(down(negated(a)))
  private def remainder(a: Fraction, b: Fraction): Option[Fraction] =
    over(a, b).map(q => plus(a, negated(times(b, toZero(q)))))
  private def modulus(a: Fraction, b: Fraction): Option[Fraction] = remainder(a, b).flatMap { r =>
    if (isNegative(r)) remainder(plus(r, b), b) else Some(r)
  }

  private def away(a: Fraction): Fraction =
    if (isNegative(a)) up(plus(a, negated(half))) else down(plus(a, half))
  private def even(a: Fraction): Fraction = {
    val (low, high) = (up(plus(a, negated(half))), down(plus(a, half)))
    if (low._1 % 2 == 0) low else high
  }

  /** In units: `f` of `a / unit`, times the unit. */
  private def units(unit: Rational)(f: Fraction => Fraction)(a: Fraction): Fraction =
    times(f(over(a, pair(unit)).get), pair(unit))

  /** Arguments, each of a set, what the operation gives for them, and a set with that in it. */
  private case class Trial(
      sets: Vector[IntervalSet],
      values: Vector[Rational],
      exact: Option[Rational],
      result: IntervalSet
  )

  private def trial(arity: Int, f: Vector[Fraction] => Option[Fraction]): Gen[Trial] = for {
    arguments <- Gen.listOfN(arity, inhabited)
    (sets, values) = arguments.toVector.unzip
    exact = f(values.map(pair)).map { case (n, d) => Rational(n, d) }
    result <- around(exact.getOrElse(Rational.Zero), number)
  } yield Trial(sets, values, exact, result)

  private def law(op: RealOperation, arity: Int)(f: Vector[Fraction] => Option[Fraction]): Unit =
    property(s"$op: its value is in forward, its arguments are in backward of what that is in") {
      forAll(trial(arity, f)) { t =>
        t.exact.forall { value =>
          op.forward(t.sets).contains(value) &&
          t.values.indices.forall(i => op.backward(t.result, t.sets, i).contains(t.values(i)))
        } && (t.exact.isDefined || op.isPartial(t.sets))
      }
    }

  private def one(op: RealOperation)(f: Fraction => Fraction): Unit =
    law(op, 1)(xs => Some(f(xs(0))))
  private def two(op: RealOperation)(f: (Fraction, Fraction) => Option[Fraction]): Unit =
    law(op, 2)(xs => f(xs(0), xs(1)))

  private def half: Fraction = (BigInt(1), BigInt(2))
  private val third = Rational(BigInt(2), BigInt(3))

  two(Plus)((a, b) => Some(plus(a, b)))
  two(Minus)((a, b) => Some(plus(a, negated(b))))
  two(Times)((a, b) => Some(times(a, b)))
  two(Divide)(over)
  two(Quotient)((a, b) => over(a, b).map(toZero))
  two(RoundedQuotient)((a, b) => over(a, b).map(away))
  two(Remainder)(remainder)
  two(PositiveModulus)(modulus)
  one(Negate)(negated)
  one(Absolute)(a => if (isNegative(a)) negated(a) else a)
  one(Sign)(a => (BigInt(a._1.signum * a._2.signum), BigInt(1)))
  one(Same)(a => a)
  for (unit <- Seq(Rational.One, Rational(5), third)) {
    one(Ceiling(unit))(units(unit)(up))
    one(ToZero(unit))(units(unit)(toZero))
    for (origin <- Seq(Rational.Zero, Rational(-3), third))
      law(Floor(unit, origin), 1) { xs =>
        Some(plus(units(unit)(down)(plus(xs(0), negated(pair(origin)))), pair(origin)))
      }
    one(Nearest(unit, Middle.AwayFromZero))(units(unit)(away))
    one(Nearest(unit, Middle.ToEven))(units(unit)(even))
  }

  private def closed(from: Long, to: Long) = IntervalSet.closed(Rational(from), Rational(to))

  test("[1, 2] / [-1, 1] = (-inf, -1] ∪ [1, +inf), also beside three more intervals") {
    val around0 = closed(-1, 1)
    val expected =
      IntervalSet.atMost(Rational(-1)).union(IntervalSet.atLeast(Rational.One))
    assertEquals(Divide.forward(Vector(closed(1, 2), around0)), expected)
    val four = Seq(closed(5, 6), closed(8, 9), closed(11, 12)).foldLeft(around0)(_ union _)
    assert(Divide.forward(Vector(closed(1, 2), four)).contains(Rational(2)))
  }

  test("[0, 1] * (0, 1) = [0, 1), (0, 1] * (0, 1) = (0, 1)") {
    import Bound.{Closed, Open}
    val inner = IntervalSet.span(Open(Rational.Zero), Open(Rational.One))
    val halfOpen = IntervalSet.span(Open(Rational.Zero), Closed(Rational.One))
    assertEquals(
      Times.forward(Vector(closed(0, 1), inner)),
      IntervalSet.span(Closed(Rational.Zero), Open(Rational.One))
    )
    assertEquals(Times.forward(Vector(halfOpen, inner)), inner)
  }

  test("[13, 17] % 10 = [3, 7], and 3 back from there is 13") {
    val arguments = Vector(closed(13, 17), closed(10, 10))
    assertEquals(Remainder.forward(arguments), closed(3, 7))
    assertEquals(Remainder.backward(closed(3, 3), arguments, 0), closed(13, 13))
  }

  test("the inverse of floor 2 is [2, 3), of truncate 0 (-1, 1), of abs [3, 5] both signs") {
    import Bound.{Closed, Open}
    def q(x: Long) = Rational(x)
    val all = Vector(IntervalSet.All)
    assertEquals(
      Floor(Rational.One).backward(closed(2, 2), all, 0),
      IntervalSet.span(Closed(q(2)), Open(q(3)))
    )
    assertEquals(
      ToZero(Rational.One).backward(closed(0, 0), all, 0),
      IntervalSet.span(Open(q(-1)), Open(q(1)))
    )
    assertEquals(Absolute.backward(closed(3, 5), all, 0), closed(-5, -3).union(closed(3, 5)))
  }

  test("an open end is no value of a step: floor in (1, 3) and ceil in (1, 3) are 2") {
    import Bound.{Closed, Open}
    def q(x: Long) = Rational(x)
    val open = IntervalSet.span(Open(q(1)), Open(q(3)))
    val all = Vector(IntervalSet.All)
    assertEquals(
      Floor(Rational.One).backward(open, all, 0),
      IntervalSet.span(Closed(q(2)), Open(q(3)))
    )
    assertEquals(
      Ceiling(Rational.One).backward(open, all, 0),
      IntervalSet.span(Open(q(1)), Closed(q(2)))
    )
  }

  test(
    "rounding to 2 begins at 1.5 and ends before 2.5, to even with 2.5; of 0 both middles are out"
  ) {
    import Bound.{Closed, Open}
    def halves(x: Long) = Rational(BigInt(x), BigInt(2))
    val all = Vector(IntervalSet.All)
    val away = Nearest(Rational.One, Middle.AwayFromZero)
    assertEquals(
      away.backward(closed(2, 2), all, 0),
      IntervalSet.span(Closed(halves(3)), Open(halves(5)))
    )
    assertEquals(
      away.backward(closed(0, 0), all, 0),
      IntervalSet.span(Open(halves(-1)), Open(halves(1)))
    )
    assertEquals(
      Nearest(Rational.One, Middle.ToEven).backward(closed(2, 2), all, 0),
      IntervalSet.closed(halves(3), halves(5))
    )
  }

  test("pmod(a, 10) = 3 with a in [-19, -11] is -17") {
    val arguments = Vector(closed(-19, -11), closed(10, 10))
    assertEquals(PositiveModulus.backward(closed(3, 3), arguments, 0), closed(-17, -17))
    assertEquals(PositiveModulus.forward(arguments), closed(0, 0).union(closed(1, 9)))
  }
}
