// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for tightness.
package plait.constraint

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.constraint.Term._
import plait.constraint.Terms._
import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Ends.Numbers
import plait.interval.Interval.Span
import plait.interval.{Bound, Interval, Rational}
import plait.{LawSuite, Side}

class SweepsLaws extends LawSuite {
  private def around(values: Map[Variable, BigInt], slack: Map[Variable, BigInt]) =
    new Sweeps[BigInt](v => Interval.closed(values(v) - slack(v), values(v) + slack(v)))

  private val slack: Gen[Map[Variable, BigInt]] =
    Gen.listOfN(4, Gen.choose(0, 5).map(BigInt(_))).map(variables.zip(_).toMap)

  property("upward: the value of a term lies in its interval") {
    forAll(term(3), assignment, slack)((t, x, d) => around(x, d).upward(t).contains(evaluate(t, x)))
  }

  property("downward: no solution of a comparison is lost") {
    forAll(compare(3), assignment, slack, Gen.oneOf(variables)) { (c, x, d, v) =>
      !holds(c, x) || around(x, d).narrowed(c, v).forall(_.contains(x(v)))
    }
  }

  property("downward to a term that is no column: its value stays inside") {
    forAll(compare(2), assignment, slack) { (c, x, d) =>
      def all(t: Term): Seq[Term] = t +: t.children.flatMap(all)
      !holds(c, x) || (all(c.left) ++ all(c.right)).forall { t =>
        around(x, d).narrowed(c, t).forall(_.contains(evaluate(t, x)))
      }
    }
  }

  property("formulas: the sweep over formulas, evaluated, is the sweep over numbers") {
    forAll(compare(3), assignment) { (c, x) =>
      val numbers = new Sweeps[BigInt](v =>
        if (v.side == Side.Left) Interval.point(x(v)) else Interval.All
      ).narrowed(c, s)
      val formulas = new Sweeps[Affine](v =>
        if (v.side == Side.Left) Interval.point(Affine.of(v)) else Interval.All
      ).narrowed(c, s)
      def rounded(at: Bound[Affine], closed: Rational => BigInt, open: Rational => BigInt) =
        at match {
          case Closed(end) => Closed(closed(end.evaluate(x)))
          case Open(end) => Open(open(end.evaluate(x)))
          case Unbounded => Unbounded
        }
      numbers == formulas.map {
        case Span(l, u) => Span(rounded(l, _.ceiling, _.floor), rounded(u, _.floor, _.ceiling))
        case Interval.Empty => Interval.Empty
      }
    }
  }

  private def reachOf(target: Term, c: Compare) = new Sweeps[Affine](v =>
    if (v.side == Side.Left) Interval.point(Affine.of(v)) else Interval.All
  ).narrowed(c, target)

  test("l.a + 3 < r.s + 10 narrows r.s to (a - 7, +inf)") {
    val c = Compare(Comparison.Less, Add(a, Constant(3)), Add(s, Constant(10)))
    assertEquals(reachOf(s, c), Seq(Span(Open(Affine(-7, Map(a -> 1))), Unbounded)))
  }

  test("a + b > s - 3 narrows s to (-inf, a + b + 3)") {
    val c = Compare(Comparison.Greater, Add(a, b), Subtract(s, Constant(3)))
    assertEquals(reachOf(s, c), Seq(Span(Unbounded, Open(Affine(3, Map(a -> 1, b -> 1))))))
  }

  test("10 * (s - a) <= 25 narrows s to (-inf, a + 2]") {
    val c = Compare(Comparison.AtMost, Scale(Subtract(s, a), 10), Constant(25))
    assertEquals(reachOf(s, c), Seq(Span(Unbounded, Closed(Affine(2, Map(a -> 1))))))
  }

  test("2 * (a - s) <= b narrows s to [(2 * a - b) / 2, +inf)") {
    val c = Compare(Comparison.AtMost, Scale(Subtract(a, s), 2), b)
    assertEquals(reachOf(s, c), Seq(Span(Closed(Affine(0, Map(a -> 2, b -> -1), 2)), Unbounded)))
    assertEquals(reachOf(s, c).map(_.toString), Seq("[(2 * a - b) / 2, +inf)"))
  }

  test("a >= 1, b >= 6 and a > b - 3 gives a > 3") {
    val known = new Sweeps[BigInt](v => Interval.atLeast(BigInt(if (v == a) 1 else 6)))
    val c = Compare(Comparison.Greater, a, Subtract(b, Constant(3)))
    assertEquals(known.narrowed(c, a), Seq(Interval.above(BigInt(3))))
  }

  test("s + s > a says nothing of s while the other s is unknown") {
    val c = Compare(Comparison.Greater, Add(s, s), a)
    assertEquals(reachOf(s, c), Seq.fill(2)(Span(Unbounded, Unbounded)))
  }

  test("<> narrows nothing") {
    assertEquals(reachOf(s, Compare(Comparison.NotEqual, s, a)), Seq(Interval.All))
  }
}
