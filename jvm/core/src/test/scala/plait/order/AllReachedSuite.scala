// SPDX-License-Identifier: Apache-2.0
// Examples, and a law against all pairs of small tables.
package plait.order

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.constraint.Term._
import plait.constraint.Terms._
import plait.constraint._

class AllReachedSuite extends LawSuite {
  private def within(width: Int): Term = Call(
    Logic.And,
    Compare(Comparison.AtLeast, a, Subtract(s, Constant(width))).term,
    Compare(Comparison.AtMost, a, Add(s, Constant(width))).term
  )

  private def between(term: Term, least: Int, greatest: Int) = Seq(
    Compare(Comparison.AtLeast, term, Constant(least)),
    Compare(Comparison.AtMost, term, Constant(greatest))
  )

  test("a reach of 90 to either side holds all of [0, 90], and one of 89 does not") {
    val known = between(a, 0, 90) ++ between(s, 0, 90)
    assert(AllReached.of(within(90), known))
    assert(!AllReached.of(within(89), known))
  }

  test("of a side of which nothing is known no reach holds all") {
    assert(!AllReached.of(within(1000), between(a, 0, 90)))
    assert(!AllReached.of(within(1000), Nil))
  }

  test("where what is known rules all rows out, nothing is said of the condition") {
    val none = between(a, 0, 90) ++ between(a, 99, 200) ++ between(s, 0, 90)
    assert(!AllReached.of(within(90), none))
  }

  test("a condition with a part that is not understood does not hold for all") {
    val condition = Call(Logic.And, within(90), Compare(Comparison.NotEqual, a, s).term)
    assert(!AllReached.of(condition, between(a, 0, 90) ++ between(s, 0, 90)))
  }

  property("all reached = no pair of values in the ranges for which the condition is FALSE") {
    val end = Gen.choose(-6, 6)
    forAll(end, end, end, end, Gen.choose(0, 13)) { (a0, a1, s0, s1, width) =>
      val (lefts, rights) =
        (math.min(a0, a1) to math.max(a0, a1), math.min(s0, s1) to math.max(s0, s1))
      val holds = lefts.forall(l => rights.forall(r => math.abs(l - r) <= width))
      val known = between(a, lefts.head, lefts.last) ++ between(s, rights.head, rights.last)
      AllReached.of(within(width), known) == holds
    }
  }
}
