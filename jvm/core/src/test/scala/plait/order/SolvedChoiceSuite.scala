// SPDX-License-Identifier: Apache-2.0
// Examples: which joins the solver finds orders for.
package plait.order

import munit.FunSuite

import plait.constraint.Term._
import plait.constraint.{Arithmetic, Compared, Comparison, Logic, Overflow, Term}
import plait.interval.{Domain, FieldOperation, Possible, Rational, Specials}
import plait.{BySide, Side}

class SolvedChoiceSuite extends FunSuite {
  private val left = Variable("l.d", Side.Left, Domain.Date)
  private val right = Variable("r.d", Side.Right, Domain.Date)

  /** Spark subtracts days without a check. */
  private val days =
    Call(Arithmetic(FieldOperation.Minus, Domain.Date, Domain.Int, Overflow.Wraps), left, right)
  private def is(op: Comparison, days: Term, limit: Int) = Call(Compared(op), days, Constant(limit))

  private def chosen(condition: Term) = SolvedChoice.best(
    BySide(condition, condition),
    BySide(Seq(left), Seq(right)),
    term => term == left || term == right
  )
  private def day(n: Long) = IndexedSeq(Possible.only(Rational(n)))

  test("datediff(l.d, r.d) BETWEEN 0 AND 2 prunes both sides, by an order each way") {
    val condition = Call(Logic.And, is(Comparison.AtLeast, days, 0), is(Comparison.AtMost, days, 2))
    val choice = chosen(condition).toOption.get
    assert(Side.both.forall(choice.isPruned), choice.toString)
    assertEquals(choice.reaches.left.ranks(day(20000)), Some((19998L, 20000L)))
    assertEquals(choice.reaches.right.ranks(day(20000)), Some((20000L, 20002L)))
  }

  test("datediff(l.d, r.d) >= 0: r.d is at most l.d, but l.d may be one of the first dates too") {
    val choice = chosen(is(Comparison.AtLeast, days, 0)).toOption.get
    assertEquals(Side.both.map(choice.isPruned), Seq(true, false))
    assertEquals(choice.reaches.left.ranks(day(20000)), Some((20000L - Int.MaxValue, 20000L)))
    val everything = Some((Int.MinValue.toLong, Int.MaxValue.toLong))
    assertEquals(choice.reaches.right.ranks(day(20000)), everything)
  }

  test("of streams a row is not pruned that a NULL may match, unless no NULL comes") {
    val near =
      Call(Logic.And, is(Comparison.AtLeast, days, 0), is(Comparison.AtMost, days, 2))
    def isNull(term: Term) = Call(Logic.Is(Specials.Null), term)
    val condition = Call(Logic.Or, near, isNull(right))
    val timed = Call(Logic.Not, isNull(right))
    def isKept(known: Option[Term]) = SolvedChoice
      .ofStreams(
        BySide(condition, condition),
        BySide(Seq(left), Seq(right)),
        term => term == left || term == right,
        known
      )((_, _) => true)
      .map(_.mayMatchNull(Side.Right))
    assertEquals(isKept(None), Some(true))
    assertEquals(isKept(Some(timed)), Some(false))
  }

  test("days that wrap around reach from one end of the dates to the other") {
    val condition = Call(Logic.And, is(Comparison.AtLeast, days, 0), is(Comparison.AtMost, days, 2))
    val reach = chosen(condition).toOption.get.reaches.right
    val (least, most) = (Int.MinValue.toLong, Int.MaxValue.toLong)
    assertEquals(reach.ranks(day(most)), Some((least, most)))
  }

  test("a likely row's values fit each other: t, and t less a million, which is asked for too") {
    val (t, u) =
      (Variable("l.t", Side.Left, Domain.Long), Variable("r.t", Side.Right, Domain.Long))
    val minus = Arithmetic(FieldOperation.Minus, Domain.Long, Domain.Long, Overflow.Fails)
    def less(v: Term) = Call(minus, v, Constant(1000000))
    val condition = Call(
      Logic.And,
      Call(Compared(Comparison.AtMost), t, u),
      Call(Compared(Comparison.AtLeast), less(t), less(u))
    )
    val choice = SolvedChoice
      .best(BySide(condition, condition), BySide(Seq(t), Seq(u)), _.sides.size == 1)
      .toOption
      .get
    assert(Side.both.forall(choice.isPruned), choice.toString)
    assertEquals(choice.points, 6)
    assertEquals(choice.whyNotTwoEnded, None)
  }

  test("rows that reach nothing but NULL say nothing of where an end moves") {
    val (a, b) =
      (Variable("l.a", Side.Left, Domain.Long), Variable("l.b", Side.Left, Domain.Long))
    val t = Variable("r.t", Side.Right, Domain.Long)
    val near = Call(
      Logic.And,
      Call(Compared(Comparison.AtMost), a, b),
      Call(Compared(Comparison.AtLeast), t, a),
      Call(Compared(Comparison.AtMost), Subtract(t, a), Constant(10))
    )
    val condition = Call(Logic.Or, near, Call(Logic.Is(Specials.Null), t))
    val reach = new SolvedReach(condition, Side.Left, t, IndexedSeq(a, b))
    assert(reach.follows(Direction.Ascending))
    assertEquals(reach.points(Order(a, Direction.Ascending), Direction.Ascending), 3)
  }

  test("an OR with what a column is equal to may be TRUE for some rows: no end is guessed") {
    val (x, u) =
      (Variable("l.x", Side.Left, Domain.Long), Variable("r.x", Side.Right, Domain.Long))
    val isThree =
      Call(Compared(Comparison.Equal), Variable("l.n", Side.Left, Domain.Long), Constant(3))
    val condition =
      Call(Logic.Or, Call(Compared(Comparison.Less), u, x), isThree)
    val reach = new SolvedReach(condition, Side.Left, u, IndexedSeq(x, isThree))
    assert(!reach.follows(Direction.Ascending))
  }

  test(
    "a reach that a column chooses ends for the rows of each kind: what is asked of them may all be TRUE"
  ) {
    def column(name: String, side: Side) = Variable(name, side, Domain.Long)
    val (kind, t, u) =
      (column("l.kind", Side.Left), column("l.t", Side.Left), column("l.u", Side.Left))
    val other = column("r.t", Side.Right)
    def isKind(k: Int) = Call(Compared(Comparison.Equal), kind, Constant(k))
    def within(end: Term, width: Int) = Call(
      Logic.And,
      Call(Compared(Comparison.AtLeast), other, end),
      Call(Compared(Comparison.AtMost), Subtract(other, end), Constant(width))
    )
    val condition = Call(
      Logic.Or,
      Call(Logic.And, isKind(1), within(t, 10)),
      Call(Logic.And, isKind(2), within(u, 60))
    )
    val reach = new SolvedReach(condition, Side.Left, other, IndexedSeq(isKind(1), isKind(2), t, u))
    for (direction <- Direction.both) assert(reach.follows(direction), direction.toString)
    assertEquals(reach.points(Order(t, Direction.Ascending), Direction.Descending), 1)
  }

  test("l.x <> r.x, r.x in [1, 900]: the row of 1 alone moves an end, so none follows") {
    val (x, u) =
      (Variable("l.x", Side.Left, Domain.Long), Variable("r.x", Side.Right, Domain.Long))
    def known(condition: Term) = Seq(
      Call(Compared(Comparison.AtLeast), u, Constant(1)),
      Call(Compared(Comparison.AtMost), u, Constant(900))
    ).foldLeft(condition)(Call(Logic.And, _, _))
    def reach(condition: Term) =
      new SolvedReach(known(condition), Side.Left, u, IndexedSeq(x))
    val unequal = reach(Call(Logic.Not, Call(Compared(Comparison.Equal), x, u)))
    for (direction <- Direction.both)
      assert(!unequal.follows(direction), direction.toString)
    assert(reach(Call(Compared(Comparison.AtMost), u, x)).follows(Direction.Ascending))
    assert(reach(Call(Compared(Comparison.AtLeast), u, x)).follows(Direction.Descending))
  }

  test("an end that another column moves has the points of one in no particular sequence") {
    val (t, x) =
      (Variable("l.t", Side.Left, Domain.Long), Variable("l.x", Side.Left, Domain.Long))
    val u = Variable("r.t", Side.Right, Domain.Long)
    val condition = Call(Compared(Comparison.Greater), x, u)
    val reach = new SolvedReach(condition, Side.Left, u, IndexedSeq(x))
    val up = Direction.Ascending
    assertEquals(reach.points(Order(x, up), up), 3)
    assertEquals(reach.points(Order(x, Direction.Descending), up), 1)
    assertEquals(reach.points(Order(t, up), up), 2)
    assertEquals(reach.points(Order(x, up), Direction.Descending), 0)
  }

  test("texts: r.s from l.s on, or NULL l.flag, by the first eight bytes of l.s") {
    val (l, r) =
      (Variable("l.s", Side.Left, Domain.Text), Variable("r.s", Side.Right, Domain.Text))
    val flag = Variable("l.flag", Side.Left, Domain.Boolean)
    val from = Call(Compared(Comparison.AtLeast), r, l)
    val condition =
      Call(Logic.Or, from, Call(Logic.And, flag, Call(Compared(Comparison.Less), l, r)))
    val choice = SolvedChoice
      .best(
        BySide(condition, condition),
        BySide(Seq(l), Seq(r)),
        term => Seq(l, r, flag).contains(term)
      )
      .toOption
      .get
    assert(Side.both.exists(choice.isPruned), choice.toString)
    val name = "Braunschweig".getBytes
    val rank = Rank.ofText(java.nio.ByteBuffer.wrap(name).getLong)
    val own = choice.reaches.left.own.map { term =>
      if (term == l) Possible.only(Domain.Text.number(name)) else term.domain.all
    }
    assertEquals(choice.reaches.left.ranks(own), Some((rank, Long.MaxValue)))
  }
}
