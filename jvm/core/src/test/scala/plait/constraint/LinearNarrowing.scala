// SPDX-License-Identifier: Apache-2.0
// Examples: linear conditions over two integer columns, from known starts.
package plait.constraint

import munit.FunSuite

import plait.Side
import plait.constraint.Term._
import plait.interval._

/** {{{
  * right + low < left < right + high
  *
  * ascending     left >= l, right >= r     left >= max(l, r + low)     right >= max(r, l - high)
  * descending    left <= l, right <= r     left <= min(l, r + high)    right <= min(r, l - low)
  * }}}
  *
  * The conditions and starts are those of the interval solver tests of Apache DataFusion (Apache-2.0).
  * There the ends are closed, and may be 1 off. Here a start must come out as tight as the formula
  * says, or tighter.
  */
class LinearNarrowing extends FunSuite {
  private val left = Variable("left", Side.Left, Domain.Integer)
  private val right = Variable("right", Side.Right, Domain.Integer)

  private val starts: Seq[(Long, Long)] =
    Seq((0, 0), (10, 100), (100, 10), (500, 500), (999, 0), (0, 999), (314, 271), (7, 13))
      .map { case (l, r) => (l.toLong, r.toLong) }

  /** `left + a > right + b AND left + c < right + d`, and the low and the high that it comes to. */
  private case class Condition(a: Int, b: Int, c: Int, d: Int) {
    val (low, high) = ((b - a).toLong, (d - c).toLong)
    private def plus(v: Variable, k: Int): Term =
      if (k < 0) Subtract(v, Constant(BigInt(-k))) else Add(v, Constant(BigInt(k)))
    val term: Term = Call(
      Logic.And,
      Call(Compared(Comparison.Greater), plus(left, a), plus(right, b)),
      Call(Compared(Comparison.Less), plus(left, c), plus(right, d))
    )
  }

  private val conditions = Seq(
    Condition(1, 11, 3, 33),
    Condition(-1, 5, 3, 10),
    Condition(-1, 5, -3, 10),
    Condition(-10, -5, -3, 10),
    Condition(-10, -5, -30, -3)
  )

  private def atLeast(x: Long) = IntervalSet.atLeast(Rational(x))
  private def atMost(x: Long) = IntervalSet.atMost(Rational(x))

  private def solved(term: Term, l: IntervalSet, r: IntervalSet): Narrowing =
    new Solver(term).solve(left -> Possible.in(l), right -> Possible.in(r))

  private def check(
      narrowing: Narrowing,
      l: IntervalSet,
      r: IntervalSet,
      solution: (Long, Long)
  ): Unit = {
    val values = narrowing match {
      case Narrowing.Narrowed(values) => values
      case Narrowing.Unchanged(values) => values
      case Narrowing.Infeasible => fail("infeasible")
    }
    for ((v, expected, x) <- Seq((left, l, solution._1), (right, r, solution._2))) {
      assert(values(v).values.subsetOf(expected), s"$v: ${values(v)} is wider than $expected")
      assert(values(v).contains(Rational(x)), s"$v: ${values(v)} lost $x")
    }
  }

  for { c <- conditions; (l, r) <- starts } {
    test(s"${c.term}, left >= $l, right >= $r") {
      val far = 5000L
      check(
        solved(c.term, atLeast(l), atLeast(r)),
        atLeast(math.max(l, r + c.low)),
        atLeast(math.max(r, l - c.high)),
        (far + c.high - 1, far)
      )
    }
    test(s"${c.term}, left <= $l, right <= $r") {
      val far = -5000L
      check(
        solved(c.term, atMost(l), atMost(r)),
        atMost(math.min(l, r + c.high)),
        atMost(math.min(r, l - c.low)),
        (far + c.low + 1, far)
      )
    }
  }

  test("left + 5 > right, left in [10, 20], right >= 100: infeasible") {
    val term = Call(Compared(Comparison.Greater), Add(left, Constant(5)), right)
    val narrowing = solved(term, IntervalSet.closed(Rational(10), Rational(20)), atLeast(100))
    assertEquals(narrowing, Narrowing.Infeasible: Narrowing)
  }
}
