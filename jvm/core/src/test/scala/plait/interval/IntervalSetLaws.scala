// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for what is hulled.
package plait.interval

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span
import plait.interval.Sets._

class IntervalSetLaws extends LawSuite {
  private val few: Gen[IntervalSet] =
    Gen.choose(0, 2).flatMap(Gen.listOfN(_, span(number))).map(IntervalSet.of(_))
  private val point: Gen[Rational] = Gen.frequency(3 -> number, 1 -> fraction)

  /** Up to four intervals: then nothing has been hulled. */
  private def isExact(spans: Int) = spans <= IntervalSet.Most

  private def isNormal(set: IntervalSet): Boolean =
    set.spans.size <= IntervalSet.Most &&
      set.spans.forall(s => !Interval.isEmpty(s.lower, s.upper)) &&
      set.spans.zip(set.spans.drop(1)).forall { case (a, b) =>
        a.upper.isBounded && b.lower.isBounded && {
          val (end, next) = (Bound.at(a.upper), Bound.at(b.lower))
          end < next || (end == next && a.upper == Open(end) && b.lower == Open(next))
        }
      }

  property("x ∈ of(spans) if x ∈ a span, and only then where there are at most four") {
    forAll(Gen.choose(0, 7).flatMap(Gen.listOfN(_, span(number))), point) { (spans, x) =>
      val (set, isIn) = (IntervalSet.of(spans), spans.exists(_.contains(x)))
      isNormal(set) && (!isIn || set.contains(x)) &&
      (!isExact(spans.size) || set.contains(x) == isIn)
    }
  }

  property("x ∈ A ∪ B if and only if x ∈ A or x ∈ B") {
    forAll(few, few, point) { (a, b, x) =>
      val both = a.union(b)
      isNormal(both) && both.contains(x) == (a.contains(x) || b.contains(x))
    }
  }

  property("x ∈ A ∩ B if and only if x ∈ A and x ∈ B") {
    forAll(few, few, point) { (a, b, x) =>
      val both = a.intersect(b)
      isNormal(both) && both.contains(x) == (a.contains(x) && b.contains(x))
    }
  }

  property("x ∈ complement of A if and only if x ∉ A; twice is A") {
    forAll(few, point) { (a, x) =>
      isNormal(a.complement) && a.complement.contains(x) != a.contains(x) &&
      a.complement.complement == a
    }
  }

  property("x ∈ A \\ B if and only if x ∈ A and x ∉ B") {
    forAll(few, few, point) { (a, b, x) =>
      val rest = a.minus(b)
      isNormal(rest) && rest.contains(x) == (a.contains(x) && !b.contains(x))
    }
  }

  property("with more than four intervals all of them only widen") {
    forAll(set(number), set(number), point) { (a, b, x) =>
      val (inA, inB) = (a.contains(x), b.contains(x))
      Seq(a.union(b), a.intersect(b), a.complement, a.minus(b)).forall(isNormal) &&
      (!(inA || inB) || a.union(b).contains(x)) &&
      (!(inA && inB) || a.intersect(b).contains(x)) &&
      (inA || a.complement.contains(x)) &&
      (!(inA && !inB) || a.minus(b).contains(x))
    }
  }

  property("A ⊆ B said: every x ∈ A is in B; A ∩ B ⊆ A and A ⊆ A ∪ B") {
    forAll(few, few, point) { (a, b, x) =>
      (!a.subsetOf(b) || !a.contains(x) || b.contains(x)) &&
      a.intersect(b).subsetOf(a) && a.subsetOf(a.union(b))
    }
  }

  property("x ∈ A: x ∈ hull of A; the one number of a set of one is in it") {
    forAll(inhabited) { case (a, x) =>
      a.nonEmpty && a.hull.contains(x) && a.single.forall(_ == x)
    }
  }

  property("a set has one form: the same intervals in another sequence give an equal set") {
    forAll(Gen.choose(0, 4).flatMap(Gen.listOfN(_, span(number)))) { spans =>
      val (one, two) = (IntervalSet.of(spans), IntervalSet.of(spans.reverse))
      one == two && one.hashCode == two.hashCode
    }
  }

  private def q(x: Long) = Rational(x)

  test("[1, 2) ∪ [2, 3] = [1, 3], and [1, 2) ∪ (2, 3] has a gap") {
    val left = IntervalSet.span(Closed(q(1)), Open(q(2)))
    assertEquals(left.union(IntervalSet.closed(q(2), q(3))), IntervalSet.closed(q(1), q(3)))
    assertEquals(left.union(IntervalSet.span(Open(q(2)), Closed(q(3)))).spans.size, 2)
  }

  test("of {0}, {10}, {20}, {23}, {40} the gap from 20 to 23 is filled") {
    val set = IntervalSet.points(Seq(0L, 10L, 20L, 23L, 40L).map(q))
    assertEquals(set.toString, "[0, 0] ∪ [10, 10] ∪ [20, 23] ∪ [40, 40]")
  }

  test("the complement of nothing is all, and that of all is nothing") {
    assertEquals(IntervalSet.Empty.complement.spans, Vector(Span(Unbounded, Unbounded)))
    assertEquals(IntervalSet.All.complement, IntervalSet.Empty)
  }
}
