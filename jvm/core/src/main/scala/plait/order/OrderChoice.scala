// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.Term._
import plait.constraint.{Affine, Compare, Comparison, Sweeps, Term}
import plait.interval.{Bound, Interval}
import plait.{BySide, Side}

/** The orders under which a join is run, with the reach of each side's rows in the other's order. */
final case class OrderChoice(orders: BySide[Order], reaches: BySide[Reach]) {

  /** What ends the life of a buffered row of this side: the bounds at the end of its reach that the
    * other side's frontier passes last.
    */
  def prunedBy(side: Side): Seq[ReachBound] =
    reaches(side).farEnd(orders(side.other).direction)

  /** An end that is the same for all rows comes from what is known of the other side alone, and is passed
    * only near its end.
    */
  private def following(side: Side): Seq[ReachBound] =
    prunedBy(side).filter(_.formula.variables.nonEmpty)

  def whyNotPruned(side: Side): Option[WhyNot] =
    if (following(side).nonEmpty) None
    else Some(WhyNot.EndlessReach(side, orders(side.other).term.toString))

  /** How well its sides are pruned. */
  def points: Int = Side.both.map(pointsOf).sum

  private[order] def pointsOf(side: Side): Int =
    following(side).map(OrderChoice.slope(this, side, _)).maxOption.getOrElse(0)
}

/** Which orders to sort the two sides by.
  *
  * Candidates for a side are the largest terms over it alone that a comparison with the other side
  * holds, with constant summands taken off: `l.s + 3 < r.s + 10` offers `l.s` and `r.s`,
  * `r.t - l.t <= 300` offers `l.t` and `r.t`. Each pair of candidates is tried in each pair of
  * directions, and the pair that prunes best is taken:
  *
  * {{{
  * a side whose rows die, and the later ones later (l.s in r.s - 4 .. )    3
  * a side whose rows die in no particular sequence                         2
  * a side whose rows die, and the later ones sooner                        1
  * a side whose rows do not die                                            0
  * an order that the side has already                                      + 1/4
  * }}}
  *
  * For `l.a + r.b BETWEEN -5 AND 5` that is `a ASC, b DESC`. On a draw the first in the condition
  * and ascending orders win. Of a side with more than [[MostTerms]] candidates the first are tried.
  */
object OrderChoice {
  private val MostTerms = 64

  /** @param offered
    *   orders that a side has without sorting, or nearly
    * @param known
    *   what holds for all rows of a side alone, as the filters below the join say; it narrows what
    *   the other side reaches
    */
  def best(
      conjunction: Seq[Compare],
      offered: BySide[Seq[Order]],
      known: BySide[Seq[Compare]] = BySide(Nil, Nil)
  ): Either[WhyNot, OrderChoice] = {
    val alone = ofOneSide(known)
    val choices = among(conjunction, alone.map(KnownValues.of))((_, orders) => orders)
    if (choices.isEmpty) Left(WhyNot.NoComparison())
    else {
      // maxBy keeps the first of equals.
      val best = choices.maxBy(score(_, offered))
      val reasons = Side.both.flatMap(best.whyNotPruned)
      if (reasons.size == 2) Left(WhyNot.NothingPruned(reasons)) else Right(narrowed(best, alone))
    }
  }

  /** The choice for sides whose rows come in orders that are what they are: of streams.
    *
    * @param isKnown
    *   whether the frontier of a side is known in an order
    * @return
    *   of two that prune as many sides the one that prunes better; None without a comparison
    */
  def ofStreams(conjunction: Seq[Compare])(
      isKnown: (Side, Order) => Boolean
  ): Option[OrderChoice] = {
    val choices = among(conjunction) { (side, orders) =>
      val known = orders.filter(isKnown(side, _))
      if (known.nonEmpty) known else orders.take(1)
    }
    def prunes(choice: OrderChoice, side: Side) =
      isKnown(side.other, choice.orders(side.other)) && choice.prunedBy(side).nonEmpty
    choices.maxByOption { choice =>
      Side.both.filter(prunes(choice, _)).map(side => 10 + choice.pointsOf(side)).sum
    }
  }

  /** Each pair of the orders that `kept` leaves of those that the comparisons offer a side. */
  private def among(
      conjunction: Seq[Compare],
      known: BySide[KnownValues] = BySide(KnownValues.Nothing, KnownValues.Nothing)
  )(kept: (Side, Seq[Order]) => Seq[Order]): Seq[OrderChoice] = {
    val across = ending(conjunction)
    val orders = BySide.make { side =>
      val candidates = across.flatMap(candidatesOf(side, _)).distinct
      kept(side, candidates.flatMap(term => Direction.both.map(Order(term, _))))
        .take(Direction.both.size * MostTerms)
    }
    val terms = orders.map(_.map(_.term).distinct)
    val ordersOf = orders.map(_.groupBy(_.term))
    // A reach depends on neither direction, nor on the row's own order.
    val reaches = BySide.make { side =>
      terms(side.other).map(term => term -> Reach.of(side, term, across, known(side.other))).toMap
    }
    for {
      leftTerm <- terms.left
      rightTerm <- terms.right
      left <- ordersOf.left(leftTerm)
      right <- ordersOf.right(rightTerm)
    } yield OrderChoice(
      BySide(left, right),
      BySide(reaches.left(rightTerm), reaches.right(leftTerm))
    )
  }

  /** The same orders, and the reaches where this is known of the sides. */
  def knowing(
      orders: BySide[Order],
      conjunction: Seq[Compare],
      known: BySide[Seq[Compare]]
  ): OrderChoice = {
    val across = ending(conjunction)
    val alone = ofOneSide(known)
    val reaches = BySide.make { side =>
      Reach.of(side, orders(side.other).term, across, KnownValues.of(alone(side.other)))
    }
    narrowed(OrderChoice(orders, reaches), alone)
  }

  private def ofOneSide(known: BySide[Seq[Compare]]): BySide[Seq[Compare]] =
    BySide.make(side => known(side).filter(_.sides == Set(side)))

  private def narrowed(choice: OrderChoice, alone: BySide[Seq[Compare]]): OrderChoice =
    choice.copy(reaches = BySide.make { side =>
      val order = choice.orders(side.other).term
      choice.reaches(side).and(Reach.of(side, order, alone(side.other)))
    })

  /** The comparisons of both sides that can end a reach. */
  private[order] def ending(conjunction: Seq[Compare]): Seq[Compare] =
    conjunction.filter(c => c.sides.size == 2 && c.op != Comparison.NotEqual)

  /** The terms of a side that a comparison offers to order it by. */
  private[order] def candidatesOf(side: Side, comparison: Compare): Seq[Term] =
    Seq(comparison.left, comparison.right)
      .flatMap(_.largestOver(side)(_ => true))
      .map(withoutConstants)

  /** `t` for `t + 5`, `5 + t` and `t - 5`: an order by the one is an order by the other. */
  private def withoutConstants(term: Term): Term = term match {
    case Add(t, c) if c.sides.isEmpty => withoutConstants(t)
    case Add(c, t) if c.sides.isEmpty => withoutConstants(t)
    case Subtract(t, c) if c.sides.isEmpty => withoutConstants(t)
    case Scale(t, _) if withoutConstants(t).isInstanceOf[Variable] => withoutConstants(t)
    case t => t
  }

  private def score(choice: OrderChoice, offered: BySide[Seq[Order]]): Double =
    choice.points + 0.25 * Side.both.count(s => offered(s).contains(choice.orders(s)))

  /** How the end of the reach moves along the row's own order, both in ranks. */
  private def slope(choice: OrderChoice, side: Side, bound: ReachBound): Int = {
    val own = choice.orders(side)
    val step = new Sweeps[Affine](v => Interval.point(Affine.of(v))).upward(own.term)
    val signs = step match {
      case Interval.Span(Bound.Closed(formula), _) =>
        formula.coefficients.toSeq.map { case (v, k) =>
          k.signum * bound.formula.coefficients.getOrElse(v, BigInt(0)).signum
        }
      case _ => Nil
    }
    val turned = if (own.direction == choice.orders(side.other).direction) 1 else -1
    val moves = signs.map(_ * turned).distinct
    if (moves == Seq(1)) 3 else if (moves == Seq(-1)) 1 else 2
  }
}
