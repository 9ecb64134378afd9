// SPDX-License-Identifier: Apache-2.0
package plait.order

import scala.collection.mutable

import plait.Side
import plait.constraint.Term._
import plait.constraint.{Compare, Logic, Solver, Term}
import plait.interval.{Bound, Domain, IntervalSet, Possible, Rational, Specials}

/** The reach of a row where no formula gives it: what the solver leaves of the other side's order with
  * the row's own values as points.
  *
  * {{{
  * abs(l.x - r.x) <= 5 OR l.x * 2 = r.x       left row x = 100:  r.x in [95, 105] ∪ {200}, so [95, 200]
  * }}}
  *
  * Conventions:
  *   1. As for [[Reach]]: a superset, with closed ends in ranks.
  *   2. The own side's terms are variables here: Spark computes them, whatever they are.
  *   3. One instance serves one thread.
  *
  * @param order
  *   a term over the other side that the condition holds
  * @param own
  *   terms over the row's side, whose values [[ranks]] takes in this sequence; see
  *   [[Term.largestOver]]
  * @param known
  *   what else holds for every pair of rows: it says whether NULL may match, and moves no end
  */
final class SolvedReach(
    val condition: Term,
    val side: Side,
    val order: Term,
    val own: IndexedSeq[Term],
    known: Option[Term] = None
) {

  private val variables = own.zipWithIndex.map { case (term, i) =>
    term -> Variable(s"own $i", side, term.domain)
  }.toMap
  private val solver = new Solver(SolvedReach.replaced(condition, variables), Seq(order))
  private val ownIndices = own.map(term => solver.index(variables(term))).toArray
  private val orderIndex = solver.index(order)
  private val rank = Rank
    .of(order.domain)
    .getOrElse(
      throw new IllegalArgumentException(s"$order of ${order.domain} has no rank")
    )
  private val start = solver.initial

  /** What the order may be for a row with these values; None if no row of the other side matches. */
  def possible(values: IndexedSeq[Possible]): Option[Possible] = {
    val state = start.clone()
    for (i <- ownIndices.indices)
      state(ownIndices(i)) = state(ownIndices(i)).intersect(values(i))
    if (solver.narrow(state)) Some(state(orderIndex)) else None
  }

  /** The same in ranks, both ends in. */
  def ranks(values: IndexedSeq[Possible]): Option[(Long, Long)] = possible(values).map { order =>
    // Nothing but NULL, which every row reaches where it may match; or NaN.
    if (order.values.isEmpty)
      if (order.mayBeNaN) (Long.MinValue, Long.MaxValue) else (Long.MaxValue, Long.MinValue)
    else
      (
        rank.low(order.values.lower),
        if (order.mayBeNaN) Long.MaxValue else rank.high(order.values.upper)
      )
  }

  /** Can the condition be TRUE although the order has no value? */
  lazy val mayMatchNull: Boolean = mayMatch(Possible.JustNull) && known.forall { fact =>
    new SolvedReach(Call(Logic.And, condition, fact), side, order, IndexedSeq.empty)
      .mayMatch(Possible.JustNull)
  }

  private def mayMatch(value: Possible): Boolean = {
    val state = start.clone()
    state(orderIndex) = value
    solver.narrow(state)
  }

  /** Does the reach of likely rows end in this direction? That is a guess, and only a guess hangs on
    * it: which order to run the join by.
    */
  def ends(direction: Direction): Boolean =
    likely.nonEmpty && likely.forall { case (_, reached) => isEnded(reached, direction) }

  /** Does that end depend on the row? One that does not comes from what is known of the other side
    * alone: `l.x < r.y` where `r.y * 4` fits its type. Nor does one that but one of the likely rows moves:
    * `l.x <> r.y` where `r.y` is at least 1 moves it for the row of 1.
    */
  def follows(direction: Direction): Boolean = ends(direction) && {
    val found = likely.map { case (_, reached) => farEnd(reached, direction) }
    found.distinct.size > 1 && found.count(_ != endForAny(direction)) > 1
  }

  /** Up to where any row may reach. */
  private def endForAny(direction: Direction): Bound[Rational] =
    possible(own.map(term => Possible.in(term.domain.everything)))
      .map(farEnd(_, direction))
      .getOrElse(Bound.Unbounded)

  /** How that end moves along an order of the row's own side, by the same guess: see
    * [[OrderChoice]], whose points these are. The row's other columns stay as they are.
    */
  def points(along: Order, direction: Direction): Int =
    if (!follows(direction)) 0
    else {
      val signs = rowsAlong(along.term).flatMap { rows =>
        val moves = rows.map { case (at, reached) => at -> farEnd(reached, direction) }
        moves.zip(moves.drop(1)).map { case ((x, end), (y, next)) =>
          Bound.at(y).compare(Bound.at(x)) * Bound.at(next).compare(Bound.at(end))
        }
      }
      val turned = if (along.direction == direction) 1 else -1
      val seen = signs.map(_.sign * turned).filter(_ != 0).distinct
      if (seen == Seq(1)) 3 else if (seen == Seq(-1)) 1 else 2
    }

  /** For each of the families rows of which one term differs: where it is, and what they reach. */
  private def rowsAlong(term: Term): Seq[Seq[(Bound[Rational], Possible)]] =
    along.getOrElseUpdate(
      term,
      families.map { family =>
        family.rows.map(rowOf(_, family.usual, term.nodes)).flatMap { row =>
          val at = row(term).values
          possible(own.map(row))
            .filter(reached => at.nonEmpty && reached.values.nonEmpty)
            .map(at.lower -> _)
        }
      }
    )
  private val along = mutable.HashMap.empty[Term, Seq[Seq[(Bound[Rational], Possible)]]]

  /** Where the condition asks something of the row alone, most rows that matter are those of which it is TRUE. */
  private def families: Seq[SolvedReach.Family] =
    if (own.exists(_.domain == Domain.Boolean)) SolvedReach.Families
    else SolvedReach.Families.take(1)

  private def farEnd(reached: Possible, direction: Direction): Bound[Rational] =
    if (direction == Direction.Ascending) reached.values.upper else reached.values.lower

  /** Likely rows, and what they reach; a row that reaches nothing says nothing. */
  private lazy val likely: Seq[(Term => Possible, Possible)] =
    for {
      family <- families
      sample <- family.rows
      row = rowOf(sample, family.usual, own.flatMap(_.nodes))
      reached <- possible(own.map(row))
    } yield row -> reached

  /** The row with these values in some columns and the usual ones in the others: what is computed from
    * them fits them.
    */
  private def rowOf(
      sample: Term => Possible,
      usual: Term => Possible,
      in: Seq[Term]
  ): Term => Possible = term => {
    val chosen = if (term.nodes.exists(in.contains)) sample else usual
    def column(v: Variable) = (if (in.contains(v)) sample else usual) (v)
    // Of columns with these values a comparison is FALSE as a rule, and of others it may be TRUE.
    val computed = SolvedReach.computed(
      term,
      if (term.domain == Domain.Boolean) v => Possible.in(v.domain.everything) else column
    )
    if (computed.values.single.isDefined) computed else chosen(term)
  }

  /** An end in the outermost eighth is none: it comes from what a type can hold (`l.t + r.t` must not
    * overflow), not from the condition. Nor is one that has no rank, as of texts.
    */
  private def isEnded(reached: Possible, direction: Direction): Boolean = {
    val all = order.domain.everything
    val (least, greatest) = (Bound.at(all.lower), Bound.at(all.upper))
    val margin = (greatest - least) / Rational(8)
    reached.values.nonEmpty && (direction match {
      case Direction.Ascending =>
        !reached.mayBeNaN && Bound.at(reached.values.upper) <= greatest - margin &&
        rank.high(reached.values.upper) != Long.MaxValue
      case Direction.Descending =>
        Bound.at(reached.values.lower) >= least + margin &&
        rank.low(reached.values.lower) != Long.MinValue
    })
  }
}

object SolvedReach {

  /** Can a conjunction hold for a row of this side and one of the other whose order is NaN? */
  def mayMatchNaN(side: Side, order: Term, conjunction: Seq[Compare]): Boolean = {
    val condition = conjunction.map(_.term).reduce(Call(Logic.And, _, _))
    new SolvedReach(condition, side, order, IndexedSeq.empty)
      .mayMatch(Possible(IntervalSet.Empty, Specials.NaN))
  }

  private def replaced(term: Term, by: Map[Term, Term]): Term = {
    val known = mutable.HashMap.from(by)
    def of(term: Term): Term = known.getOrElse(
      term, {
        val found = term match {
          case Add(l, r) => Add(of(l), of(r))
          case Subtract(l, r) => Subtract(of(l), of(r))
          case Negate(c) => Negate(of(c))
          case Scale(c, k) => Scale(of(c), k)
          case Call(operation, arguments) => Call(operation, arguments.map(of))
          case leaf @ (_: Variable | _: Constant | _: Known | _: Opaque) => leaf
        }
        known.put(term, found)
        found
      }
    )
    of(term)
  }

  /** What a term is where its columns are these. */
  private def computed(term: Term, columns: Variable => Possible): Possible = {
    val alone = new Solver(term)
    val state = alone.initial
    term.nodes.foreach {
      case v: Variable => state(alone.index(v)) = columns(v)
      case _ =>
    }
    alone.forward(state)
  }

  /** Rows as they may be: not 0, not at the limits, times of this century. The usual one is the second of them. */
  final private case class Family(rows: Seq[Term => Possible]) {
    def usual: Term => Possible = rows(1)
  }

  /** Rows of which what is asked of them alone is FALSE or TRUE by turns, and rows of which all of it is TRUE. */
  private val Families: Seq[Family] = {
    val numbers = Seq(1, 5, 90)
    Seq(Family(numbers.map(k => sample(k, (k + 1) % 2))), Family(numbers.map(sample(_, 1))))
  }

  private def sample(k: Int, truth: Int)(term: Term): Possible = {
    val number = term.domain match {
      case Domain.Date => Rational(20000L + k)
      case Domain.Timestamp | Domain.TimestampNtz => Rational(1700000000000000L + k * 3600000000L)
      case Domain.DayTimeInterval => Rational(k * 60000000L)
      case Domain.Boolean => Rational(truth.toLong)
      case Domain.Text => Rational(BigInt(k), BigInt(200))
      case _ => Rational(k.toLong)
    }
    Possible.in(term.domain.tighten(IntervalSet.point(number)))
  }
}
