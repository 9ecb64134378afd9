// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint}

import plait.order.WhyNot
import plait.spark.plan.{AsOfJoin, BoundedStream}
import plait.spark.side.{PairConditions, SidePruning}
import plait.spark.stream.{AsOfSpec, MatchOrder, StreamSpec}
import plait.spark.translate.{BestMatch, EndOfTime, MatchDirection, OrderValue}
import plait.stream.Superseding
import plait.{BySide, Side}

/** As-of and event-time temporal joins of two streams: what a left row waits for, and a right row.
  *
  * {{{
  * l.ts >= r.ts                     left: until the right frontier has passed l.ts
  *                                  right: until the next row of its key, and both frontiers past that
  * l.ts >= r.ts TOLERANCE 5         right: until l.ts + 5, too
  * l.ts <= r.ts TOLERANCE 5         left: until the right frontier has passed l.ts + 5, or the first r.ts from l.ts on
  * l.ts <= r.ts                     refused: a row with no match would wait for ever
  * }}}
  *
  * What it does not promise: that an order helps in which match values fall, as `ORDERED(r, 'ts DESC')` says. No
  * row leaves by it.
  */
object StreamAsOf {
  import MatchDirection._

  def isOfStreams(join: AsOfJoin): Boolean = join.left.isStreaming && join.right.isStreaming

  def isTaken(join: AsOfJoin): Boolean = isOfStreams(join) && whyNot(join).isEmpty

  /** Why it is refused. */
  def whyNot(join: AsOfJoin): Option[String] = {
    val best = join.best
    val isForward = best.direction match {
      case AtOrBefore | Before => false
      case AtOrAfter | After | Nearest => true
    }
    if (join.joinType == RightOuter || join.joinType == FullOuter)
      Some(
        s"${join.joinType.sql} ASOF JOIN of two streams is not supported yet, because of a right row nobody knows how long it " +
          "may still be picked: take INNER, LEFT, LEFT SEMI or LEFT ANTI"
      )
    else if (EndOfTime.isAskedBy(best))
      Some(
        "A join FOR SYSTEM_TIME AS OF PROCTIME() with a stream on the right side is not supported, because which rows are there " +
          "hangs on when they come: join a table, or as of an event time"
      )
    else if (isForward && best.within.isEmpty && BoundedStream.names(join.right).isEmpty)
      Some(
        s"MATCH_CONDITION (${best.sql}) of two streams needs a TOLERANCE, because a left row without a match would wait " +
          "for one for ever; or the hint BOUNDED, if all right rows are there when the query starts"
      )
    else if (!OrderValue.isWhole(best.right.dataType))
      Some(
        s"Match values of the type ${best.right.dataType.sql} are not supported in an as-of join of two streams, because they have " +
          "no numbers by which it could be said how far a stream has come: take a time or a number"
      )
    else None
  }

  def spec(join: AsOfJoin): StreamSpec = {
    val AsOfKeys(keys, rest) = AsOfKeys.of(join)
    val conditions = PairConditions.of(
      rest,
      join.best.within,
      join.check,
      BySide(join.left.outputSet, join.right.outputSet)
    )
    val operands = this.operands(join.best)
    val compared =
      Join(join.left, join.right, Inner, comparison(join.best, operands), JoinHint.NONE)
    val pruning = new StreamPruning(
      JoinToPlan(compared, Inner, keys, compared.condition),
      read = join.left.output,
      alone = Seq(Side.Left),
      rising = BySide(operands.map(_._1), operands.map(_._2))
    )
    val order = if (pruning.rises) MatchOrder.ByRank else MatchOrder.Unknown
    val superseding = (join.best.direction, order) match {
      case (AtOrBefore | Before, MatchOrder.ByRank) if conditions.accepts.isEmpty =>
        Superseding.ByNext
      case (AtOrAfter | After, MatchOrder.ByRank) if conditions.accepts.isEmpty =>
        Superseding.ByFirst
      case _ => Superseding.Never
    }
    val spec = pruning.spec
    spec.copy(
      joinType = join.joinType,
      pruning = told(spec.pruning, superseding, pruning.noFrontier(Side.Right)),
      asOf = Some(AsOfSpec(join.best, rest, join.check, superseding, order))
    )
  }

  /** A right row that its successor ends needs no end of its own, if the left side is known to come past its successor.
    * @param noFrontier
    *   why that is not known
    */
  private def told(
      pruning: BySide[SidePruning],
      superseding: Superseding,
      noFrontier: Option[WhyNot]
  ): BySide[SidePruning] =
    superseding match {
      case Superseding.ByNext if pruning.left.whyNot.isEmpty && noFrontier.isEmpty =>
        pruning.copy(right = pruning.right.supersededByNext)
      case Superseding.ByNext if pruning.left.whyNot.isEmpty && pruning.right.whyNot.isDefined =>
        pruning.copy(right = noFrontier.fold(pruning.right)(pruning.right.unlessFor))
      case Superseding.ByFirst =>
        pruning.copy(left =
          pruning.left.and("by the first it reaches, where none may be forgotten")
        )
      case _ => pruning
    }

  /** What is compared, left and right: also the values that a tolerance compares, since in their order all ends of
    * a reach are known.
    */
  private def operands(best: BestMatch): Seq[(Expression, Expression)] =
    (best.left, best.right) +: best.within.map(unguarded).toSeq.flatMap(compared).distinct

  private def comparison(
      best: BestMatch,
      operands: Seq[(Expression, Expression)]
  ): Option[Expression] =
    (operands.flatMap { case (l, r) => compare(best.direction, l, r) } ++
      best.within.map(unguarded)).reduceOption(And(_, _))

  private def compare(direction: MatchDirection, l: Expression, r: Expression): Option[Expression] =
    direction match {
      case AtOrBefore => Some(GreaterThanOrEqual(l, r))
      case Before => Some(GreaterThan(l, r))
      case AtOrAfter => Some(LessThanOrEqual(l, r))
      case After => Some(LessThan(l, r))
      case Nearest => None
    }

  private def compared(within: Expression): Seq[(Expression, Expression)] = within.collect {
    case GreaterThanOrEqual(r, Subtract(l, _, _)) => (l, r)
    case LessThanOrEqual(r, Add(l, _, _)) => (l, r)
  }

  /** Where a sum overflows the end of a reach is that of the type. */
  private def unguarded(within: Expression): Expression = within.transform {
    case Coalesce(Seq(condition, Literal.TrueLiteral)) => condition
  }
}
