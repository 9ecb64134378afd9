// SPDX-License-Identifier: Apache-2.0
package plait.interval

import org.scalacheck.Gen

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span

/** Random numbers and sets of them; ends at 0, at whole numbers and at each other are frequent. */
object Sets {
  val whole: Gen[Rational] = Gen.choose(-6, 6).map(x => Rational(x.toLong))

  val fraction: Gen[Rational] =
    for { n <- Gen.choose(-20, 20); d <- Gen.oneOf(2, 3, 4, 7) } yield Rational(
      BigInt(n),
      BigInt(d)
    )

  val number: Gen[Rational] = Gen.frequency(
    6 -> whole,
    2 -> Gen.const(Rational.Zero),
    3 -> fraction,
    1 -> Gen.oneOf(Long.MaxValue, Long.MinValue, Int.MaxValue.toLong).map(Rational(_))
  )

  def bound(at: Gen[Rational]): Gen[Bound[Rational]] = Gen.frequency(
    4 -> at.map(Closed(_)),
    4 -> at.map(Open(_)),
    1 -> Gen.const(Unbounded)
  )

  def span(at: Gen[Rational]): Gen[Span[Rational]] = for {
    one <- bound(at)
    two <- bound(at)
  } yield if (isBefore(two, one)) Span(two, one) else Span(one, two)

  private def isBefore(a: Bound[Rational], b: Bound[Rational]): Boolean =
    a.isBounded && b.isBounded && Bound.at(a) < Bound.at(b)

  def spans(at: Gen[Rational]): Gen[List[Span[Rational]]] =
    Gen.choose(0, 4).flatMap(Gen.listOfN(_, span(at)))

  def set(at: Gen[Rational]): Gen[IntervalSet] = spans(at).map(IntervalSet.of(_))

  /** A set of 1 to 4 intervals with this number in it, its other ends being such numbers. */
  def around(x: Rational, at: Gen[Rational]): Gen[IntervalSet] = for {
    lower <- end(x, at)(_ < _)
    upper <- end(x, at)(_ > _)
    others <- Gen.frequency(2 -> Gen.const(Nil), 3 -> spans(at))
  } yield IntervalSet.of(Span(lower, upper) :: others)

  private def end(x: Rational, at: Gen[Rational])(
      isOutside: (Rational, Rational) => Boolean
  ): Gen[Bound[Rational]] = bound(at).map {
    case Unbounded => Unbounded
    case other if isOutside(Bound.at(other), x) => other
    case _ => Closed(x)
  }

  /** A set and a member. */
  val inhabited: Gen[(IntervalSet, Rational)] =
    for { x <- number; a <- around(x, number) } yield (a, x)
}
