// SPDX-License-Identifier: Apache-2.0
// Examples.
package plait.order

import munit.FunSuite

import plait.Side
import plait.constraint.Term._
import plait.constraint.Terms._
import plait.constraint._

class IntervalChoiceSuite extends FunSuite {
  private def compare(op: Comparison, left: Term, right: Term) = Compare(op, left, right)
  private def best(collected: Side, conjunction: Compare*) =
    IntervalChoice.best(conjunction, collected)

  private def text(choice: IntervalChoice): String = {
    def ends(end: IntervalChoice.End) = end.bounds.map(_.formula).mkString(" and ")
    s"[${choice.low.order}, ${choice.high.order}] meets [${ends(choice.high)}, ${ends(choice.low)}]"
  }

  test("s <= a AND a <= t, s and t of the right: a point in a range") {
    val between = Seq(compare(Comparison.AtMost, s, a), compare(Comparison.AtMost, a, t))
    assertEquals(best(Side.Right, between: _*).map(text), Right("[s, t] meets [a, a]"))
    assertEquals(best(Side.Left, between: _*).map(text), Right("[a, a] meets [s, t]"))
    assertEquals(best(Side.Right, between: _*).map(_.isPoint), Right(false))
    assertEquals(best(Side.Left, between: _*).map(_.isPoint), Right(true))
  }

  test("a <= t AND s <= b: two ranges that overlap") {
    val overlap = Seq(compare(Comparison.AtMost, a, t), compare(Comparison.AtMost, s, b))
    assertEquals(best(Side.Right, overlap: _*).map(text), Right("[s, t] meets [a, b]"))
  }

  test("s - a BETWEEN 0 AND 5: a band, and one order serves for both ends") {
    val difference = Subtract(s, a)
    val band = Seq(
      compare(Comparison.AtLeast, difference, Constant(0)),
      compare(Comparison.AtMost, difference, Constant(5))
    )
    assertEquals(best(Side.Right, band: _*).map(text), Right("[s, s] meets [a, a + 5]"))
  }

  test("one end alone is no interval, <> is no end, and nothing is said without a comparison") {
    val below = best(Side.Right, compare(Comparison.Less, a, s))
    assertEquals(below.left.map(_.code), Left("ONE_SIDED_REACH"))
    val unequal = best(Side.Right, compare(Comparison.NotEqual, a, s))
    assertEquals(unequal.left.map(_.code), Left("NO_COMPARISON"))
    assertEquals(best(Side.Right).left.map(_.code), Left("NO_COMPARISON"))
  }
}
