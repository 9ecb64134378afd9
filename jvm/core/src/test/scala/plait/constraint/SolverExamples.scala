// SPDX-License-Identifier: Apache-2.0
// Examples: what the solver makes of named conditions, end by end.
package plait.constraint

import munit.FunSuite

import plait.Side
import plait.constraint.Term._
import plait.interval.FieldOperation._
import plait.interval._

class SolverExamples extends FunSuite {
  private def real(name: String) = Variable(name, Side.Left, Domain.Real)
  private def int(name: String) = Variable(name, Side.Left, Domain.Int)
  private def exactly(x: BigDecimal) =
    Known(Possible.only(Rational.of(x)), Domain.Real, x.toString)
  private def on(operation: RealOperation, terms: Term*) =
    Call(Arithmetic(operation, Domain.Real, Domain.Real, Overflow.Fails), terms: _*)
  private def is(op: Comparison, a: Term, b: Term) = Call(Compared(op), a, b)
  private def and(terms: Term*) = Call(Logic.And, terms: _*)
  private def or(terms: Term*) = Call(Logic.Or, terms: _*)
  private def not(term: Term) = Call(Logic.Not, term)
  private def possible(set: IntervalSet) = Possible.in(set)
  private def q(x: Double) = Rational.of(x)

  import Comparison._
  private val (a, b, x, y, n, m) = (real("a"), real("b"), real("x"), real("y"), int("n"), int("m"))

  private def solved(condition: Term, known: (Term, Possible)*): Term => Possible =
    new Solver(condition).solve(known: _*) match {
      case Narrowing.Narrowed(values) => values
      case Narrowing.Unchanged(values) => values
      case Narrowing.Infeasible => fail("infeasible")
    }

  test("a > b - 3 AND a < b + 10, a >= 1, b >= 6: a > 3") {
    val three = exactly(3)
    val condition =
      and(is(Greater, a, on(Minus, b, three)), is(Less, a, on(Plus, b, exactly(10))))
    val values = solved(
      condition,
      a -> possible(IntervalSet.atLeast(q(1))),
      b -> possible(IntervalSet.atLeast(q(6)))
    )
    assertEquals(values(a), possible(IntervalSet.above(q(3))))
    assertEquals(values(b), possible(IntervalSet.atLeast(q(6))))
  }

  test("x * x + y = 4, x in [1, 2], y in [-3, 1]: y in [0, 1]") {
    val condition = is(Equal, on(Plus, on(Times, x, x), y), exactly(4))
    val values = solved(
      condition,
      x -> possible(IntervalSet.closed(q(1), q(2))),
      y -> possible(IntervalSet.closed(q(-3), q(1)))
    )
    assertEquals(values(y), possible(IntervalSet.closed(q(0), q(1))))
  }

  test(
    "a sum of a sum with itself, 60 deep, is 61 nodes, and no walk through it takes 2^60 steps"
  ) {
    val sum = Iterator.iterate[Term](n)(t => Add(t, t)).drop(60).next()
    assertEquals(sum.nodes.size, 61)
    assert(sum.holds(n) && !sum.holds(m))
    assertEquals(sum.largestOver(Side.Left)(_ == n), Seq[Term](n))
    assertEquals(sum.largestOver(Side.Left)(_ => true), Seq(sum))
  }

  test("n < 3 OR n > 7 leaves two intervals, and their ends are integers") {
    val condition = or(is(Less, n, Constant(3)), is(Greater, n, Constant(7)))
    val values = solved(condition, n -> possible(IntervalSet.closed(q(0), q(9))))
    assertEquals(
      values(n),
      possible(IntervalSet.closed(q(0), q(2)).union(IntervalSet.closed(q(8), q(9))))
    )
  }

  test("IF(x > 0, x, -x) <= 5: x in [-5, 5]") {
    val positive = is(Greater, x, exactly(0))
    val chosen = Call(Choice.If(Domain.Real), positive, x, on(Minus, exactly(0), x))
    val values = solved(is(AtMost, chosen, exactly(5)))
    assertEquals(values(x).values, IntervalSet.closed(q(-5), q(5)))
  }

  test("(n = 1 AND m = 2) OR (n = 3 AND m = 5): n in {1, 3}, m in {2, 5}") {
    val condition = or(
      and(is(Equal, n, Constant(1)), is(Equal, m, Constant(2))),
      and(is(Equal, n, Constant(3)), is(Equal, m, Constant(5)))
    )
    val values = solved(condition)
    assertEquals(values(n), possible(IntervalSet.points(Seq(q(1), q(3)))))
    assertEquals(values(m), possible(IntervalSet.points(Seq(q(2), q(5)))))
  }

  test("NOT (n > m) is n <= m, and neither is NULL") {
    val values =
      solved(not(is(Greater, n, m)), m -> Possible(IntervalSet.atMost(q(5)), Specials.Null))
    assertEquals(values(n).values.upper, Bound.Closed(q(5)): Bound[Rational])
    assert(!values(n).mayBeNull && !values(m).mayBeNull)
  }

  test("n > m OR NULL: only a TRUE comparison makes it TRUE") {
    val unknown = Known(Possible.JustNull, Domain.Boolean, "NULL")
    val values = solved(
      or(is(Greater, n, m), unknown),
      m -> possible(IntervalSet.atLeast(q(5)))
    )
    assertEquals(values(n).values.lower, Bound.Closed(q(6)): Bound[Rational])
    assert(!values(n).mayBeNull)
  }

  test("n <=> m passes NULL on") {
    val values = solved(Call(NullSafeEqual, n, m), m -> Possible.JustNull)
    assertEquals(values(n), Possible.JustNull)
  }

  test("(n BETWEEN m AND m + 5) OR n IS NULL keeps NULL") {
    val within = and(is(AtLeast, n, m), is(AtMost, n, Add(m, Constant(5))))
    val values = solved(
      or(within, Call(Logic.Is(Specials.Null), n)),
      m -> Possible.only(q(10))
    )
    assertEquals(values(n), Possible(IntervalSet.closed(q(10), q(15)), Specials.Null))
  }

  test("n < m AND m < n on [0, 1000] ends, and loses nothing that it should keep") {
    val both = Seq(n, m).map(_ -> possible(IntervalSet.closed(q(0), q(1000))))
    new Solver(and(is(Less, n, m), is(Less, m, n))).solve(both) match {
      case Narrowing.Narrowed(values) => assert(values(n).values.nonEmpty)
      case other => fail(s"$other")
    }
  }

  test("n = 1 AND n = 2 is infeasible") {
    val condition = and(is(Equal, n, Constant(1)), is(Equal, n, Constant(2)))
    assertEquals(new Solver(condition).solve(): Narrowing, Narrowing.Infeasible: Narrowing)
  }

  test("n * 2 = 2 for 1, and for 1 - 2^31 where it may wrap") {
    def doubled(overflow: Overflow) =
      Call(Arithmetic(Times, Domain.Int, Domain.Int, overflow), n, Constant(2))
    assertEquals(
      solved(is(Equal, doubled(Overflow.Wraps), Constant(2)))(n).values,
      IntervalSet.points(Seq(Rational(1L - (1L << 31)), Rational.One))
    )
    assertEquals(
      solved(is(Equal, doubled(Overflow.Fails), Constant(2)))(n),
      Possible.only(q(1))
    )
  }

  test("m = 0 OR n div m > 2 keeps m = 0, where nothing is divided and nothing fails") {
    val quotient =
      Call(Arithmetic(StepOperation.Quotient, Domain.Int, Domain.Long, Overflow.Fails), n, m)
    val condition = or(is(Equal, m, Constant(0)), is(Greater, quotient, Constant(2)))
    val values = solved(condition, n -> Possible.only(q(6)))
    assertEquals(
      values(m).values,
      IntervalSet.points(Seq(q(0))).union(IntervalSet.closed(q(1), q(2)))
    )
    assertEquals(solved(condition, m -> Possible.only(q(0)))(m), Possible.only(q(0)))
  }

  test("NULL <=> (10 div n) div m keeps n = 0 where m may be 0, and its quotient NULL") {
    def div(overflow: Overflow)(a: Term, b: Term) =
      Call(Arithmetic(StepOperation.Quotient, Domain.Int, Domain.Int, overflow), a, b)
    val quotient = div(Overflow.Wraps)(div(Overflow.Fails)(Constant(10), n), m)
    val condition = Call(NullSafeEqual, Known(Possible.JustNull, Domain.Int, "NULL"), quotient)
    val small = possible(IntervalSet.closed(q(0), q(8)))
    assertEquals(solved(condition, n -> small, m -> small)(n), small)
    // By another divisor the dividend is looked at, and fails or has a value.
    assertEquals(
      new Solver(condition).solve(n -> small, m -> possible(IntervalSet.point(q(3)))),
      Narrowing.Infeasible
    )
  }

  test("NULL <=> k + 10 div m keeps m = 0 where k may be NULL: then nothing is divided") {
    def failing(operation: RealOperation)(a: Term, b: Term) =
      Call(Arithmetic(operation, Domain.Int, Domain.Int, Overflow.Fails), a, b)
    val sum = failing(FieldOperation.Plus)(n, failing(StepOperation.Quotient)(Constant(10), m))
    val condition = Call(NullSafeEqual, Known(Possible.JustNull, Domain.Int, "NULL"), sum)
    val small = possible(IntervalSet.closed(q(0), q(8)))
    val orNull = Possible(IntervalSet.point(q(3)), Specials.Null)
    assertEquals(solved(condition, n -> orNull, m -> small)(m), small)
    assert(
      new Solver(condition)
        .solve(n -> Possible.JustNull, m -> Possible.only(q(0))) != Narrowing.Infeasible
    )
    // With a number for k the sum has a value, or fails.
    assertEquals(
      new Solver(condition).solve(n -> Possible.only(q(3)), m -> small),
      Narrowing.Infeasible
    )
  }

  test("pmod(-9e307, -1.7e308) is NaN, for it adds up both") {
    val (a, b) = (-9e307, -1.7e308)
    assert(((a % b + b) % b).isNaN)
    val modulus =
      Arithmetic(StepOperation.PositiveModulus, Domain.Double, Domain.Double, Overflow.Fails)
    val found = modulus.forward(Vector(a, b).map(x => Possible.only(Rational.of(x))))
    assert(found.mayBeNaN, found.toString)
    assert(!modulus.forward(Vector(-9.0, -4.0).map(x => Possible.only(Rational.of(x)))).mayBeNaN)
  }

  test("d - 1e308 is infinite for an infinite d") {
    val d = Variable("d", Side.Left, Domain.Double)
    def known(x: Rational) = Known(Possible.only(x), Domain.Double, x.toString)
    val difference = Call(
      Arithmetic(Minus, Domain.Double, Domain.Double, Overflow.Fails),
      d,
      known(q(1e308))
    )
    assert(1.0 / 0 - 1e308 == 1.0 / 0)
    val condition = is(Equal, difference, known(Domain.Double.infinity))
    assertEquals(solved(condition)(d), Possible.only(Domain.Double.infinity))
  }

  test("n div 2 = 1: n in [2, 3]") {
    val half = Call(
      Arithmetic(StepOperation.Quotient, Domain.Int, Domain.Long, Overflow.Fails),
      n,
      Constant(2)
    )
    assertEquals(
      solved(is(Equal, half, Constant(1)))(n),
      possible(IntervalSet.closed(q(2), q(3)))
    )
  }

  test("3000D + x <= 1e20D keeps x = 1e20, which rounds down") {
    val d = Variable("d", Side.Left, Domain.Double)
    val sum = Call(
      Arithmetic(Plus, Domain.Double, Domain.Double, Overflow.Fails),
      Known(Possible.only(q(3000)), Domain.Double, "3000D"),
      d
    )
    val limit = Known(Possible.only(q(1e20)), Domain.Double, "1e20D")
    assertEquals(3000d + 1e20d, 1e20d)
    assert(solved(is(AtMost, sum, limit))(d).contains(q(1e20)))
  }

  test("abs(a - b) <= 5 with b = 7: a in [2, 12]") {
    val condition = is(AtMost, on(Absolute, on(Minus, a, b)), exactly(5))
    assertEquals(
      solved(condition, b -> Possible.only(q(7)))(a),
      possible(IntervalSet.closed(q(2), q(12)))
    )
  }

  test("1 / a > 2 with a in [-1, 1]: a in (0, 1/2)") {
    val condition = is(Greater, on(Divide, exactly(1), a), exactly(2))
    val values = solved(condition, a -> possible(IntervalSet.closed(q(-1), q(1))))
    assertEquals(values(a), possible(IntervalSet.span(Bound.Open(q(0)), Bound.Open(q(0.5)))))
  }

  test("the trace names every node, as text and as Mermaid") {
    val condition = is(Greater, a, on(Minus, b, exactly(3)))
    val trace = new Solver(condition).trace(b -> Possible.in(IntervalSet.atLeast(q(6))))
    assert(trace.text.contains("(3, +inf)"), trace.text)
    assert(trace.mermaid.startsWith("flowchart BT"), trace.mermaid)
    assert(trace.mermaid.contains("(b - 3)"), trace.mermaid)
    assert(trace.mermaid.contains("given to upward 1: (-inf, +inf) or NULL<br/>downward 1 to "))
  }

  /** Counts how often it is asked. */
  final private class Counted(inner: Operation, count: () => Unit) extends Operation {
    def name: String = inner.name
    def domain: Domain = inner.domain
    def forward(arguments: IndexedSeq[Possible]): Possible = { count(); inner.forward(arguments) }
    def backward(result: Possible, arguments: IndexedSeq[Possible], index: Int): Possible = {
      count()
      inner.backward(result, arguments, index)
    }
    override def evaluates(result: Possible, arguments: IndexedSeq[Possible], index: Int): Boolean =
      inner.evaluates(result, arguments, index)
    override def cases(result: Possible, arguments: IndexedSeq[Possible]): Seq[(Int, Possible)] =
      inner.cases(result, arguments)
    override def hasCases: Boolean = inner.hasCases
  }

  test("cases of cases that move by one a round end after as many steps as are allowed") {
    var steps = 0
    // One for all uses: terms that are equal stay so.
    val wrapped = scala.collection.mutable.Map.empty[Operation, Operation]
    def counted(term: Term): Term = term match {
      case Call(operation, arguments) =>
        val own = wrapped.getOrElseUpdate(operation, new Counted(operation, () => steps += 1))
        Call(own, arguments.map(counted))
      case leaf => leaf
    }
    val ring = Seq.tabulate(6)(i => int(s"x$i"))
    val next = ring.tail :+ ring.head
    def around(op: Comparison) = ring.zip(next).map { case (l, r) => is(op, l, r) }
    def either(k: Int) = or(
      and(is(Greater, int(s"n$k"), Constant(0)) +: around(Less): _*),
      and(is(Less, int(s"n$k"), Constant(0)) +: around(Greater): _*)
    )
    val slow = and(Seq.tabulate(8)(either): _*)
    val ofSweep = new Solver(slow).nodes.map(_.children.size + 1).sum
    def stepsOf(effort: Int): Int = {
      val solver = new Solver(counted(slow), Nil, effort)
      val before = steps
      solver.solve()
      steps - before
    }
    assert(stepsOf(Solver.Effort) <= (Solver.Effort + 1) * ofSweep)
    assert(stepsOf(Int.MaxValue / ofSweep) > (Solver.Effort + 1) * ofSweep, s"$steps of $ofSweep")
  }
}
