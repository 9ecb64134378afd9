// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.Term
import plait.{BySide, Side}

/** The orders of a join whose reaches are solved row by row. */
final case class SolvedChoice(orders: BySide[Order], reaches: BySide[SolvedReach]) {

  /** Can a row of this side match although its order has no value? */
  def mayMatchNull(side: Side): Boolean = reaches(side.other).mayMatchNull

  /** An end that is the same for all rows comes from what the other side may hold at all, and is passed
    * only near its end.
    */
  def isPruned(side: Side): Boolean = reaches(side).follows(orders(side.other).direction)

  /** None if what a row reaches has two ends, on both sides. */
  def whyNotTwoEnded: Option[WhyNot] = Side.both
    .find { side =>
      !reaches(side).follows(Direction.Ascending) || !reaches(side).follows(Direction.Descending)
    }
    .map(side => WhyNot.EndlessReach(side, orders(side.other).term.toString))

  /** By the points of [[OrderChoice]]. */
  def points: Int =
    Side.both.map(s => reaches(s).points(orders(s), orders(s.other).direction)).sum

  def whyNotPruned(side: Side): Option[WhyNot] =
    if (isPruned(side)) None
    else Some(WhyNot.EndlessReach(side, orders(side.other).term.toString))
}

object SolvedChoice {

  /** Beyond this many candidates a side, trying them costs more than it is likely to find. */
  private val MostCandidates = 3

  /** The first of them that have ranks. */
  def tried(candidates: Seq[Term]): Seq[Term] =
    candidates.filter(t => Rank.of(t.domain).isDefined).take(MostCandidates)

  /** @param conditions
    *   for each side the join's condition, with what else is surely known of the *other* side
    * @param candidates
    *   terms of a side that can be computed and sorted by
    * @param computable
    *   can a term over one side be computed for a row?
    */
  def best(
      conditions: BySide[Term],
      candidates: BySide[Seq[Term]],
      computable: Term => Boolean
  ): Either[WhyNot, SolvedChoice] = {
    val choices = among(conditions, candidates.map(tried), computable)
    // maxByOption keeps the first of equals.
    choices.maxByOption(score) match {
      case Some(best) if Side.both.exists(best.isPruned) => Right(best)
      case Some(best) =>
        Left(WhyNot.NothingPruned(Side.both.flatMap(best.whyNotPruned)))
      case None => Left(WhyNot.NoComparison())
    }
  }

  /** The choice by the first of several conditions that shows both sides pruned, else by the one that shows them pruned
    * best.
    */
  def guessed(
      conditions: Seq[Side => Term],
      candidates: BySide[Seq[Term]],
      computable: Term => Boolean
  ): Either[WhyNot, SolvedChoice] = {
    val found =
      conditions.map(BySide.make(_)).distinct.to(LazyList).map(best(_, candidates, computable))
    def isBoth(choice: SolvedChoice) = Side.both.forall(choice.isPruned)
    found
      .find(_.exists(isBoth))
      .orElse(found.filter(_.isRight).maxByOption(_.fold(_ => 0, _.points)))
      .getOrElse(found.head)
  }

  /** The same orders, and the reaches under other conditions. */
  def under(
      orders: BySide[Order],
      conditions: BySide[Term],
      computable: Term => Boolean
  ): SolvedChoice = SolvedChoice(
    orders,
    BySide.make(side => reach(side, conditions(side), orders(side.other).term, computable, None))
  )

  private def reach(
      side: Side,
      condition: Term,
      order: Term,
      computable: Term => Boolean,
      known: Option[Term]
  ): SolvedReach = {
    val own = condition.largestOver(side)(computable).toIndexedSeq
    new SolvedReach(condition, side, order, own, known)
  }

  /** The choice for sides whose rows come in orders that are what they are: of streams. Rows without an order
    * value may come at any time, so rows that may match one never leave.
    *
    * @param known
    *   what else holds for every pair of rows
    * @param isKnown
    *   whether the frontier of a side is known in an order
    */
  def ofStreams(
      conditions: BySide[Term],
      candidates: BySide[Seq[Term]],
      computable: Term => Boolean,
      known: Option[Term]
  )(isKnown: (Side, Order) => Boolean): Option[SolvedChoice] = {
    val offered = BySide.make { side =>
      val ranked = candidates(side).filter(t => Rank.of(t.domain).isDefined)
      val promised = ranked.filter(t => Direction.both.exists(d => isKnown(side, Order(t, d))))
      (if (promised.nonEmpty) promised else ranked).take(MostCandidates)
    }
    def prunes(choice: SolvedChoice, side: Side) =
      isKnown(side.other, choice.orders(side.other)) && choice.isPruned(side) &&
        !choice.mayMatchNull(side.other)
    among(conditions, offered, computable, known).maxByOption { choice =>
      4 * Side.both.count(prunes(choice, _)) - Side.both.count(choice.mayMatchNull)
    }
  }

  private def among(
      conditions: BySide[Term],
      ranked: BySide[Seq[Term]],
      computable: Term => Boolean,
      known: Option[Term] = None
  ): Seq[SolvedChoice] = {
    val reaches = BySide.make { side =>
      ranked(side.other)
        .map(order => order -> reach(side, conditions(side), order, computable, known))
        .toMap
    }
    for {
      left <- ranked.left
      right <- ranked.right
      leftDirection <- Direction.both
      rightDirection <- Direction.both
    } yield SolvedChoice(
      BySide(Order(left, leftDirection), Order(right, rightDirection)),
      BySide(reaches.left(right), reaches.right(left))
    )
  }

  /** First how well its sides are pruned, then that their rows without an order value need not be met. */
  private def score(choice: SolvedChoice): Int =
    4 * choice.points - Side.both.count(choice.mayMatchNull)
}
