// SPDX-License-Identifier: Apache-2.0
// Examples, and the mirror law.
package plait.order

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.constraint.Term._
import plait.constraint.Terms._
import plait.constraint._
import plait.interval.{Bound, Domain, FieldOperation, Interval, Possible, Rational, RealOperation}
import plait.order.Direction.{Ascending, Descending}
import plait.{BySide, LawSuite, Side}

class OrderChoiceSuite extends LawSuite {
  private val nothingOffered = BySide(Nil, Nil)
  private def best(conjunction: Compare*) = OrderChoice.best(conjunction, nothingOffered)
  private def orders(conjunction: Compare*) = best(conjunction: _*).map(_.orders)
  private def plus(t: Term, c: Int) = Add(t, Constant(c))

  test("a + 1 > s + 5 AND a + 3 < s + 10: both sides ascend and both are pruned") {
    val choice = best(
      Compare(Comparison.Greater, plus(a, 1), plus(s, 5)),
      Compare(Comparison.Less, plus(a, 3), plus(s, 10))
    ).toOption.get
    assertEquals(choice.orders, BySide(Order(a, Ascending), Order(s, Ascending)))
    assertEquals(choice.prunedBy(Side.Left).map(_.formula.toString), Seq("a - 4"))
    assertEquals(choice.prunedBy(Side.Right).map(_.formula.toString), Seq("s + 7"))
  }

  test("s - a BETWEEN 0 AND 300: the columns are taken out of the difference") {
    val difference = Subtract(s, a)
    assertEquals(
      orders(
        Compare(Comparison.AtLeast, difference, Constant(0)),
        Compare(Comparison.AtMost, difference, Constant(300))
      ),
      Right(BySide(Order(a, Ascending), Order(s, Ascending)))
    )
  }

  test(
    "c_i <= d_i for i = 1 .. 2000: c1 ascends and d2 descends, so that each side is pruned by one"
  ) {
    val all = (1 to 2000).map { i =>
      val (c, d) =
        (Variable(s"c$i", Side.Left, Domain.Long), Variable(s"d$i", Side.Right, Domain.Long))
      Compare(Comparison.AtMost, c, d)
    }
    val choice = best(all: _*).toOption.get
    assertEquals(choice.orders.map(_.term.toString), BySide("c1", "d2"))
    assertEquals(Side.both.flatMap(choice.whyNotPruned), Nil)
  }

  test("a + s BETWEEN -5 AND 5: one side ascends, the other descends") {
    val sum = Add(a, s)
    val chosen = orders(
      Compare(Comparison.AtLeast, sum, Constant(-5)),
      Compare(Comparison.AtMost, sum, Constant(5))
    ).toOption.get
    assert(chosen.left.direction != chosen.right.direction, chosen.toString)
  }

  test("a < s: right rows die when left has passed them, left rows are kept, and it says why") {
    val choice = best(Compare(Comparison.Less, a, s)).toOption.get
    assertEquals(choice.whyNotPruned(Side.Right), None)
    assertEquals(choice.whyNotPruned(Side.Left), Some(WhyNot.EndlessReach(Side.Left, "s")))
  }

  test(
    "a < s with s <= 900 known: the left reach ends there, and still it is a that is pruned by s"
  ) {
    val known = BySide(Nil, Seq(Compare(Comparison.AtMost, s, Constant(900))))
    val across = Seq(Compare(Comparison.Less, a, s))
    val choice = OrderChoice.best(across, nothingOffered, known).toOption.get
    assertEquals(choice.reaches.left.upper.map(_.formula.toString), Seq("900"))
    assertEquals(choice.orders, best(across: _*).toOption.get.orders)
  }

  test("what is known of one side alone prunes nothing by itself") {
    val known = BySide(
      Seq(Compare(Comparison.AtLeast, a, Constant(1))),
      Seq(Compare(Comparison.AtMost, s, Constant(9)))
    )
    val across = Seq(Compare(Comparison.Less, Add(a, s), Subtract(a, t)))
    val why = OrderChoice.best(across, nothingOffered, known).swap.toOption
    assertEquals(why.map(_.code), Some("NOTHING_PRUNED"))
  }

  private val x = Variable("x", Side.Left, Domain.Double)
  private val y = Variable("y", Side.Right, Domain.Double)
  private def rounded(operation: RealOperation, arguments: Term*): Term =
    Call(Arithmetic(operation, Domain.Double, Domain.Double, Overflow.Fails), arguments: _*)
  private def double(number: Double): Term =
    Known(Possible.only(Rational.of(number)), Domain.Double, number.toString)

  private def ends(reach: Reach, value: Double): (Double, Double) = {
    def end(toward: ReachEnd.Toward, bounds: Seq[ReachBound]) = {
      val rank = ReachEnd.of(toward, bounds)._1.at(Array(Rank.ofDouble(value)))
      if (rank == toward.unbounded) Double.NaN
      else RealRank.of(Domain.Double).get.value(rank, toward.outward)
    }
    (end(ReachEnd.Low, reach.lower), end(ReachEnd.High, reach.upper))
  }

  test("|x - y| <= 40 of doubles: y from x - 40 to x + 40, one step further out") {
    val distance = rounded(FieldOperation.Absolute, rounded(FieldOperation.Minus, x, y))
    val choice = best(Compare(Comparison.AtMost, distance, double(40))).toOption.get
    assertEquals(choice.reaches.left.lower.map(_.formula.toString), Seq("x - 40"))
    assertEquals(choice.reaches.left.upper.map(_.formula.toString), Seq("x + 40"))
    val (low, high) = ends(choice.reaches.left, 100)
    assert(low <= 60 && low > 59.9999999 && high >= 140 && high < 140.0000001, s"[$low, $high]")
  }

  test("x - y >= 3 of doubles: NaN is above 3, so y may be NaN and its reach has no upper end") {
    val difference = rounded(FieldOperation.Minus, x, y)
    val across = Seq(Compare(Comparison.AtLeast, difference, double(3)))
    val reach = Reach.of(Side.Left, y, across)
    assertEquals(reach.upper, Nil)
    assertEquals(Reach.of(Side.Right, x, across).lower.map(_.formula.toString), Seq("y + 3"))
    // A second comparison keeps NaN out.
    val band = across :+ Compare(Comparison.AtMost, difference, double(9))
    assertEquals(Reach.of(Side.Left, y, band).upper.map(_.formula.toString), Seq("x - 3"))
  }

  test("x - y >= 3 of doubles as solved for x = 100: y up to 97, and NaN, which is above all") {
    val difference = rounded(FieldOperation.Minus, x, y)
    val condition = Compare(Comparison.AtLeast, difference, double(3)).term
    val reach = new SolvedReach(condition, Side.Left, y, Vector(x))
    val values = Vector(Possible.only(Rational(100)))
    assert(reach.possible(values).exists(_.mayBeNaN))
    assertEquals(reach.ranks(values).map(_._2), Some(Long.MaxValue))
  }

  test("t BETWEEN a AND b: ends that are columns of their own") {
    val choice = best(
      Compare(Comparison.AtLeast, t, a),
      Compare(Comparison.AtMost, t, b)
    ).toOption.get
    assertEquals(choice.reaches.left.lower.map(_.formula.toString), Seq("a"))
    assertEquals(choice.reaches.left.upper.map(_.formula.toString), Seq("b"))
    assert(Side.both.forall(choice.prunedBy(_).nonEmpty), choice.toString)
  }

  test(
    "of two orders the one is taken that prunes both sides, wherever it stands and whatever a side has already"
  ) {
    val oneSided = Compare(Comparison.AtLeast, s, a)
    val band = Seq(
      Compare(Comparison.AtLeast, t, b),
      Compare(Comparison.AtMost, t, plus(b, 5))
    )
    val offered = BySide(Seq(Order(a, Ascending)), Seq(Order(s, Ascending)))
    for (conjunction <- Seq(oneSided +: band, band :+ oneSided); at <- Seq(nothingOffered, offered))
      assertEquals(
        OrderChoice.best(conjunction, at).map(_.orders),
        Right(BySide(Order(b, Ascending), Order(t, Ascending)))
      )
    assertEquals(
      orders(oneSided, Compare(Comparison.NotEqual, t, b)),
      Right(BySide(Order(a, Ascending), Order(s, Ascending)))
    )
  }

  test("an order that a side has already is taken on a draw") {
    val band = Seq(
      Compare(Comparison.AtLeast, Subtract(s, a), Constant(0)),
      Compare(Comparison.AtMost, Subtract(s, a), Constant(9))
    )
    val offered = BySide(Seq(Order(a, Descending)), Seq(Order(s, Descending)))
    assertEquals(
      OrderChoice.best(band, offered).map(_.orders),
      Right(BySide(Order(a, Descending), Order(s, Descending)))
    )
  }

  test("no comparison, only <>, or only one side: NO_COMPARISON") {
    assertEquals(best(), Left(WhyNot.NoComparison()))
    assertEquals(best(Compare(Comparison.NotEqual, a, s)), Left(WhyNot.NoComparison()))
    assertEquals(best(Compare(Comparison.Less, a, b)), Left(WhyNot.NoComparison()))
  }

  test("a + s < a - t: nothing is known of the right side, so nothing is pruned") {
    val why = best(Compare(Comparison.Less, Add(a, s), Subtract(a, t))).swap.toOption
    assertEquals(why.map(_.code), Some("NOTHING_PRUNED"))
  }

  private def mirrored(term: Term): Term = term match {
    case Variable(id, side, domain) => Variable(id, side.other, domain)
    case Add(l, r) => Add(mirrored(l), mirrored(r))
    case Subtract(l, r) => Subtract(mirrored(l), mirrored(r))
    case Negate(c) => Negate(mirrored(c))
    case Scale(c, k) => Scale(mirrored(c), k)
    case c: Constant => c
    case Call(operation, arguments) => Call(operation, arguments.map(mirrored))
    case other @ (_: Known | _: Opaque) => other
  }

  property("mirror: the reach of the left row is that of the right row with the sides swapped") {
    forAll(Gen.listOfN(2, compare(2)), Gen.oneOf(variables)) { (conjunction, target) =>
      val swapped = conjunction.map(c => Compare(c.op, mirrored(c.left), mirrored(c.right)))
      val reach = Reach.of(target.side.other, target, conjunction)
      val mirror = Reach.of(target.side, mirrored(target), swapped)
      def texts(bounds: Seq[ReachBound]) = bounds.map(b => b.at.map(_.toString))
      texts(reach.lower) == texts(mirror.lower) && texts(reach.upper) == texts(mirror.upper)
    }
  }

  test("a + b > s with 0 <= b <= 60 known: the right row s reaches a in (s - 60, +inf)") {
    val known = Seq(
      Compare(Comparison.AtMost, b, Constant(60)),
      Compare(Comparison.AtLeast, b, Constant(0))
    )
    val across = Seq(Compare(Comparison.Greater, Add(a, b), s))
    def lower(others: Seq[Compare]) =
      Reach.of(Side.Right, a, across, KnownValues.of(others)).lower.map(_.at.map(_.toString))
    assertEquals(lower(known), Seq(Bound.Open("s - 60")))
    assertEquals(lower(known.drop(1)), Nil)
    assertEquals(lower(Nil), Nil)
  }

  test(
    "a - s < b with b <= 7 known: a is less than s + 7; what is known of a itself moves no end"
  ) {
    val across = Seq(Compare(Comparison.Less, Subtract(a, s), b))
    def upper(known: Compare) =
      Reach.of(Side.Right, a, across, KnownValues.of(Seq(known))).upper.map(_.formula.toString)
    assertEquals(upper(Compare(Comparison.AtMost, b, Constant(7))), Seq("s + 7"))
    assertEquals(upper(Compare(Comparison.AtMost, a, Constant(7))), Nil)
  }

  test("x + y of doubles with y <= 60 known: y is no NaN, so the end holds; y >= 60 may be NaN") {
    val sum = rounded(FieldOperation.Plus, x, Variable("w", Side.Left, Domain.Double))
    val w = Variable("w", Side.Left, Domain.Double)
    val across = Seq(Compare(Comparison.Greater, sum, y))
    def lower(known: Compare) =
      Reach.of(Side.Right, x, across, KnownValues.of(Seq(known))).lower.map(_.formula.toString)
    assertEquals(lower(Compare(Comparison.AtMost, w, double(60))), Seq("y - 60"))
    val falling = rounded(FieldOperation.Minus, x, w)
    val below = Reach.of(
      Side.Right,
      x,
      Seq(Compare(Comparison.Greater, falling, y)),
      KnownValues.of(Seq(Compare(Comparison.AtLeast, w, double(60))))
    )
    assertEquals(below.lower, Nil)
  }

  test("what cannot be says nothing: b > 3 AND b < 2") {
    val never = Seq(
      Compare(Comparison.Greater, b, Constant(3)),
      Compare(Comparison.Less, b, Constant(2))
    )
    assertEquals(KnownValues.of(never).of[Affine](b), Interval.All)
  }

  /** A comparison with a constant that just holds, or just does not, with these values. */
  private def near(terms: Gen[Term], x: Map[Variable, BigInt]): Gen[Compare] =
    for { op <- comparison; t <- terms; away <- Gen.choose(-1, 1) } yield Compare(
      op,
      t,
      Constant(evaluate(t, x) + away)
    )

  private val knowing = for {
    x <- assignment
    target <- Gen.oneOf(variables)
    beside = variables.filter(v => v.side == target.side && v != target)
    conjunction <- Gen.listOfN(2, near(term(2), x))
    known <- Gen.listOfN(2, near(Gen.oneOf(beside), x))
  } yield (x, target, conjunction, known)

  property("reach, with what is known of each side: the order value of a matching row lies in it") {
    forAll(knowing) { case (x, target, conjunction, known) =>
      val reach =
        Reach.of(target.side.other, target, conjunction, KnownValues.of(known))
      def end(toward: ReachEnd.Toward, bounds: Seq[ReachBound]) = {
        val (computed, names) = ReachEnd.of(toward, bounds)
        computed.at(names.map(x(_).toLong).toArray)
      }
      !(conjunction ++ known).forall(Terms.holds(_, x)) ||
      (end(ReachEnd.Low, reach.lower) <= x(target).toLong &&
        x(target).toLong <= end(ReachEnd.High, reach.upper))
    }
  }

  property("reach: the order value of a matching row lies in it") {
    forAll(Gen.listOfN(2, compare(2)), assignment, Gen.oneOf(variables)) {
      (conjunction, x, target) =>
        val reach = Reach.of(target.side.other, target, conjunction)
        def end(toward: ReachEnd.Toward, bounds: Seq[ReachBound]) = {
          val (computed, names) = ReachEnd.of(toward, bounds)
          computed.at(names.map(x(_).toLong).toArray)
        }
        !conjunction.forall(Terms.holds(_, x)) ||
        (end(ReachEnd.Low, reach.lower) <= x(target).toLong &&
          x(target).toLong <= end(ReachEnd.High, reach.upper))
    }
  }
}
