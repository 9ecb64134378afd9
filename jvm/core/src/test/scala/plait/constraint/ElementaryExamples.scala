// SPDX-License-Identifier: Apache-2.0
// Examples: how tight the elementary functions are.
package plait.constraint

import munit.FunSuite

import plait.Side
import plait.constraint.Doubles.number
import plait.constraint.Term._
import plait.interval._

class ElementaryExamples extends FunSuite {
  private val inf = Double.PositiveInfinity
  private def set(from: Double, to: Double) = IntervalSet.closed(number(from), number(to))
  private def in(from: Double, to: Double) = Possible.in(set(from, to))
  private def forward(name: String, from: Double, to: Double) =
    Elementary.named(name).forward(Vector(in(from, to)))
  private def backward(name: String, result: Possible, own: Possible) =
    Elementary.named(name).backward(result, Vector(own), 0)
  private val all = Domain.Double.all.withoutNull

  /** Are these the intervals, up to so much at each end? */
  private def near(
      values: IntervalSet,
      expected: Seq[(Double, Double)],
      by: Double = 1e-14
  ): Unit = {
    def end(bound: Bound[Rational]) = {
      val x = Bound.at(bound)
      if (x == Domain.Double.infinity) inf
      else if (x == -Domain.Double.infinity) -inf
      else x.approximate
    }
    val ends = values.spans.map(s => (end(s.lower), end(s.upper)))
    def close(a: Double, b: Double) = a == b || math.abs(a - b) <= by * math.max(1, math.abs(b))
    val isNear = ends.size == expected.size &&
      ends.zip(expected).forall { case (a, b) => close(a._1, b._1) && close(a._2, b._2) }
    assert(isNear, s"$ends, not $expected")
  }

  test("sqrt [4, 9] = [2, 3], and sqrt x = 2 leaves some doubles around 4") {
    assertEquals(forward("sqrt", 4, 9), in(2, 3))
    near(backward("sqrt", Possible.only(number(2)), all).values, Seq((4, 4)), 1e-15)
  }

  test("sqrt [-1, 4] = [0, 2] or NaN; sqrt x >= 2 or NaN keeps negative numbers and [4, inf]") {
    assertEquals(forward("sqrt", -1, 4), Possible(set(0, 2), Specials.NaN))
    val kept = backward("sqrt", Possible(set(2, inf), Specials.NaN), all)
    near(kept.values, Seq((-inf, -0.0), (4, inf)))
    assert(!kept.contains(Rational.Zero) && kept.mayBeNaN)
  }

  test("cbrt [-8, 27] = [-2, 3]") {
    near(forward("cbrt", -8, 27).values, Seq((-2, 3)))
  }

  test("exp [0, 1] = [1, e]; exp x in [1, e]: x in [0, 1]; exp of everything is [0, inf]") {
    near(forward("exp", 0, 1).values, Seq((1, math.E)))
    assertEquals(forward("exp", 0, 1).values.lower, Bound.Closed(Rational.One): Bound[Rational])
    near(backward("exp", in(1, math.E), all).values, Seq((0, 1)))
    assertEquals(forward("exp", -inf, inf), in(0, inf))
  }

  test("ln [1, e] = [0, 1]; ln of [-1, 1] is at most 0 or NULL; log10 [1, 1000] = [0, 3]") {
    near(forward("ln", 1, math.E).values, Seq((0, 1)))
    val some = forward("ln", -1, 1)
    assert(some.mayBeNull && !some.mayBeNaN)
    near(some.values, Seq((-744.4400719213812, 0)))
    assertEquals(forward("log10", 1, 1000), in(0, 3))
    near(backward("log2", in(3, 4), all).values, Seq((8, 16)))
    near(backward("log1p", in(0, 1), all).values, Seq((0, math.E - 1)))
  }

  test("sin [0, pi] = [0, 1], sin [0, 7] = [-1, 1], sin [7, 7.5] within a piece") {
    assertEquals(forward("sin", 0, math.Pi), in(0, 1))
    assertEquals(forward("sin", 0, 7), in(-1, 1))
    near(forward("sin", 7, 7.5).values, Seq((math.sin(7), math.sin(7.5))))
    near(forward("cos", -1, 1.5).values, Seq((math.cos(1.5), 1)))
    near(forward("cos", 4, 5).values, Seq((math.cos(4), math.cos(5))))
    near(forward("tan", 2, 4).values, Seq((math.tan(2), math.tan(4))))
    assertEquals(forward("tan", 1, 2).values, Domain.Double.everything)
  }

  test("sin x in [0.5, 1], x in [0, 7]: x in [pi/6, 5 pi/6]; cos x in [0.5, 1], x in [-2, 0]") {
    near(backward("sin", in(0.5, 1), in(0, 3.2)).values, Seq((math.Pi / 6, 5 * math.Pi / 6)))
    near(backward("cos", in(0.5, 1), in(-2, 0)).values, Seq((-math.Pi / 3, 0)), 1e-7)
    near(backward("tan", in(0, 1), in(2, 4)).values, Seq((math.Pi, 5 * math.Pi / 4)))
  }

  test("asin [0, 1] = [0, pi/2], acos falls, atan of everything is half a turn") {
    near(forward("asin", 0, 1).values, Seq((0, math.Pi / 2)))
    near(forward("acos", 0, 1).values, Seq((0, math.Pi / 2)))
    near(backward("acos", in(0, 1), all).values, Seq((math.cos(1), 1)))
    near(forward("atan", -inf, inf).values, Seq((-math.Pi / 2, math.Pi / 2)))
    near(backward("atan", in(0, 1), all).values, Seq((0, math.tan(1))))
    assertEquals(forward("asin", 2, 3), Possible(IntervalSet.Empty, Specials.NaN))
  }

  test("cosh x in [2, 3]: two branches; sinh and tanh come back") {
    val (a, b) = (1.3169578969248166, 1.7627471740390859)
    near(backward("cosh", in(2, 3), all).values, Seq((-b, -a), (a, b)))
    near(backward("sinh", in(math.sinh(-2), math.sinh(3)), all).values, Seq((-2, 3)))
    near(backward("tanh", in(math.tanh(-0.5), math.tanh(1)), all).values, Seq((-0.5, 1)))
    near(backward("degrees", in(90, 180), all).values, Seq((math.Pi / 2, math.Pi)))
  }

  private def power(x: Possible, c: Possible) = PowerOperation.forward(Vector(x, c))
  private def base(result: Possible, c: Double) =
    PowerOperation.backward(result, Vector(all, in(c, c)), 0).values

  test("pow(x, 2) of [-1, 3] = [0, 9]; = [4, 9]: x in [-3, -2] or [2, 3]") {
    assertEquals(power(in(-1, 3), in(2, 2)), in(0, 9))
    near(base(in(4, 9), 2), Seq((-3, -2), (2, 3)))
    near(base(in(-8, 27), 3), Seq((-2, 3)))
    near(base(in(0.25, 0.5), -1), Seq((2, 4)))
    near(base(in(2, 3), 0.5), Seq((4, 9)))
  }

  test("pow(0, -1) is one of the infinities, pow(NaN, 0) is 1, pow(1, inf) is NaN") {
    val both = power(in(0, 0), in(-1, -1))
    assert(both.contains(number(inf)) && both.contains(number(-inf)))
    val one = power(Possible(IntervalSet.Empty, Specials.NaN), in(0, 0))
    assertEquals(one, Possible.only(Rational.One))
    assert(power(in(1, 1), in(inf, inf)).mayBeNaN)
  }

  test("pow(2, c) of [1, 3] = [2, 8], and back; of two unknown the corners") {
    assertEquals(power(in(2, 2), in(1, 3)), in(2, 8))
    val back = PowerOperation.backward(in(4, 8), Vector(in(2, 2), all), 1)
    near(back.values, Seq((2, 3)))
    near(power(in(0.5, 2), in(-1, 3)).values, Seq((0.125, 8)))
  }

  test("log(10, x) of [100, 1000] = [2, 3] and back; log(0.5, x) falls; log(-1, x) is NULL") {
    near(Logarithm.forward(Vector(in(10, 10), in(100, 1000))).values, Seq((2, 3)))
    near(Logarithm.backward(in(2, 3), Vector(in(10, 10), all), 1).values, Seq((100, 1000)), 1e-13)
    near(Logarithm.forward(Vector(in(0.5, 0.5), in(1, 8))).values, Seq((-3, 0)))
    assertEquals(Logarithm.forward(Vector(in(-1, -1), in(1, 8))), Possible.JustNull)
  }

  test("pow(x, 2) + y = 4 of reals, x in [1, 2], y in [-3, 1]: x in [√3, 2], y in [0, 1]") {
    def real(name: String) = Variable(name, Side.Left, Domain.Real)
    def on(operation: RealOperation, terms: Term*) =
      Call(Arithmetic(operation, Domain.Real, Domain.Real, Overflow.Fails), terms: _*)
    val (x, y) = (real("x"), real("y"))
    val four = Known(Possible.only(number(4)), Domain.Real, "4")
    val sum = on(FieldOperation.Plus, on(Power.Whole(2), x), y)
    val condition = Call(Compared(Comparison.Equal), sum, four)
    new Solver(condition).solve(x -> in(1, 2), y -> in(-3, 1)) match {
      case Narrowing.Narrowed(values) =>
        assertEquals(values(y), in(0, 1))
        val root = 1.7320508075688772
        assertEquals(values(x), in(root, 2))
        val next = number(Math.nextUp(root))
        assert(number(root) * number(root) < number(3) && next * next > number(3))
      case other => fail(s"$other")
    }
  }
}
