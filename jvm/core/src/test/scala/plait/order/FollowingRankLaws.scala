// SPDX-License-Identifier: Apache-2.0
// Laws, and examples.
package plait.order

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.constraint.Comparison.AtMost
import plait.constraint.Conditions._
import plait.constraint.Term._
import plait.constraint.{Arithmetic, Compared, Logic, Overflow, Term, Value}
import plait.interval.{Bound, Domain, StepOperation}
import plait.order.Direction.{Ascending, Descending}
import plait.{LawSuite, Side}

class FollowingRankLaws extends LawSuite {
  private val directions = Seq(Ascending, Descending)

  private def rankOf(order: Order, values: Map[Variable, Value]): Option[Long] =
    evaluate(order.term, values)
      .flatMap {
        case Value.Number(k) => Rank.of(order.term.domain).map(_.low(Bound.Closed(k)))
        case Value.NaN => Some(Rank.OfNaN)
        case _ => None
      }
      .map(order.direction.rank)

  property(
    "of a row of which the condition is true, one order is not before what follows from the other"
  ) {
    val rows = for {
      condition <- term(Domain.Boolean, 2)
      (a, b) <- Gen.oneOf((x, y), (y, x), (d, y), (y, d), (x, d))
      (from, to) <- Gen.zip(Gen.oneOf(directions), Gen.oneOf(directions))
      before <- Gen.oneOf(0L, 1L, 3L)
      values <- assignment
    } yield (condition, Order(a, from), Order(b, to), before, values)
    forAll(rows) { case (condition, from, to, before, values) =>
      evaluate(condition, values) != Some(Value.True) || (for {
        reached <- rankOf(from, values)
        rank <- rankOf(to, values)
      } yield {
        val floor = math.max(Long.MinValue + before, reached) - before
        new FollowingRank(condition, from, to)(floor) <= rank
      }).getOrElse(true)
    }
  }

  private val l = Variable("l", Side.Left, Domain.Long)
  private val r = Variable("r", Side.Right, Domain.Long)
  private val within: Term =
    Call(
      Logic.And,
      Call(Compared(AtMost), l, r),
      Call(Compared(AtMost), r, Term.Add(l, Term.Constant(60L)))
    )

  test("l <= r <= l + 60, r from 100 on: l from 40 on; l from 100 on: r from 100 on") {
    assertEquals(new FollowingRank(within, Order(r, Ascending), Order(l, Ascending))(100), 40L)
    assertEquals(new FollowingRank(within, Order(l, Ascending), Order(r, Ascending))(100), 100L)
  }

  test("both falling, r up to 100: l up to 100; l up to 100: r up to 160") {
    assertEquals(
      new FollowingRank(within, Order(r, Descending), Order(l, Descending))(~100L),
      ~100L
    )
    assertEquals(
      new FollowingRank(within, Order(l, Descending), Order(r, Descending))(~100L),
      ~160L
    )
  }

  test("where nothing is known nothing follows") {
    assertEquals(
      new FollowingRank(within, Order(r, Ascending), Order(l, Descending))(100),
      Long.MinValue
    )
  }

  test("the quotient of seq by 10 rises with seq; its way down has a least rank that never rises") {
    val tenth =
      Call(
        Arithmetic(StepOperation.Quotient, Domain.Long, Domain.Long, Overflow.Fails),
        l,
        Constant(10L)
      )
    def follows(to: Direction) =
      FollowingRank.rises(
        new FollowingRank(Call(Compared(AtMost), l, l), Order(l, Ascending), Order(tenth, to))
      )
    assert(follows(Ascending))
    assert(!follows(Descending))
  }
}
