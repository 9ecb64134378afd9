// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for tightness.
package plait.interval

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval._

class IntervalLaws extends LawSuite {
  private val number: Gen[BigInt] = Gen.frequency(
    8 -> Gen.choose(-12, 12).map(BigInt(_)),
    1 -> Gen.oneOf(BigInt(Long.MaxValue), BigInt(Long.MinValue), BigInt(Int.MaxValue))
  )

  private val bound: Gen[Bound[BigInt]] = Gen.frequency(
    3 -> number.map(Closed(_)),
    3 -> number.map(Open(_)),
    1 -> Gen.const(Unbounded)
  )

  private val interval: Gen[Interval[BigInt]] = Gen.frequency(
    12 -> (for { l <- bound; u <- bound } yield Span(l, u)),
    1 -> Gen.const(Empty)
  )

  /** An interval with a number in it: the ends stand away from it on either side. */
  private val inhabited: Gen[(Interval[BigInt], BigInt)] = for {
    x <- number
    lower <- end(x, -1)
    upper <- end(x, 1)
  } yield (Span(lower, upper), x)

  private def end(x: BigInt, towards: Int): Gen[Bound[BigInt]] = Gen.frequency(
    3 -> Gen.choose(0, 5).map(d => Closed(x + towards * d)),
    3 -> Gen.choose(1, 5).map(d => Open(x + towards * d)),
    1 -> Gen.const(Unbounded)
  )

  property("x ∈ A, y ∈ B: x + y ∈ A + B") {
    forAll(inhabited, inhabited) { case ((a, x), (b, y)) => plus(a, b).contains(x + y) }
  }

  property("x ∈ A, y ∈ B: x - y ∈ A - B") {
    forAll(inhabited, inhabited) { case ((a, x), (b, y)) => minus(a, b).contains(x - y) }
  }

  property("x ∈ A: -x ∈ -A, and only then") {
    forAll(interval, number)((a, x) => negate(a).contains(-x) == a.contains(x))
  }

  property("x ∈ A: k * x ∈ A times k") {
    forAll(inhabited, Gen.choose(1, 7)) { case ((a, x), k) => times(a, k).contains(x * k) }
  }

  property("x ∈ A over k if and only if k * x ∈ A") {
    forAll(interval, number, Gen.choose(1, 7))((a, x, k) =>
      over(a, k).contains(x) == a.contains(x * k)
    )
  }

  property("x ∈ A ∩ B if and only if x ∈ A and x ∈ B") {
    forAll(interval, interval, number)((a, b, x) =>
      intersect(a, b).contains(x) == (a.contains(x) && b.contains(x))
    )
  }

  test("[1, 4] + [10, 20) = [11, 24)") {
    assertEquals(
      plus[BigInt](closed(1, 4), Span(Closed(10), Open(20))),
      Span(Closed(BigInt(11)), Open(BigInt(24)))
    )
  }

  test("[1, 4] - [10, 20) = (-19, -6]") {
    assertEquals(
      minus[BigInt](closed(1, 4), Span(Closed(10), Open(20))),
      Span(Open(BigInt(-19)), Closed(BigInt(-6)))
    )
  }

  test("the x with 3 * x ∈ [-5, 17] are [-1, 5], with 3 * x ∈ (-6, 15) are (-2, 5)") {
    assertEquals(over[BigInt](closed(-5, 17), 3), closed(BigInt(-1), BigInt(5)))
    assertEquals(
      over[BigInt](Span(Open(-6), Open(15)), 3),
      Span(Open(BigInt(-2)), Open(BigInt(5)))
    )
  }

  test("(3, 3] ∩ all = {} and [3, 3] ∩ all = [3, 3]") {
    assertEquals(intersect(Span(Open(BigInt(3)), Closed(BigInt(3))), All), Empty)
    assertEquals(intersect(point(BigInt(3)), All), point(BigInt(3)))
  }

  test("on a draw the open end wins: [1, 5) ∩ [1, 5] = [1, 5)") {
    assertEquals(
      intersect(Span(Closed(BigInt(1)), Open(BigInt(5))), closed(BigInt(1), BigInt(5))),
      Span(Closed(BigInt(1)), Open(BigInt(5)))
    )
  }
}
