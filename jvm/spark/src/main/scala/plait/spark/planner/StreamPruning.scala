// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  EqualTo,
  Expression,
  IsNotNull,
  Literal,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.{DateType, TimestampNTZType, TimestampType}

import plait.constraint.{Logic, Term}
import plait.join.Leaving
import plait.order._
import plait.spark.plan.{BoundedStream, StateTtl}
import plait.spark.side.{JoinOutput, SidePruning}
import plait.spark.stream.{FrontierRule, StreamSpec}
import plait.spark.translate.SideExpressions
import plait.stream.Frontier
import plait.{BySide, Side}

/** What prunes a join of streams: each side by the order in which its rows are known to come, by a watermark
  * or a declaration, and not by one that a sort would make.
  *
  * {{{
  * l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR, both with a watermark
  *   left    ordered by ts, reaches [ts, ts + 1 HOUR], leaves when the right frontier is past that
  *   right   ordered by ts, reaches [ts - 1 HOUR, ts]
  * }}}
  *
  * The keys are part of the condition here: `l.window_end = r.window_end` prunes.
  *
  * @param read
  *   the columns of the rows that come out that something reads, or may
  * @param alone
  *   the sides of which rows come out that found no match
  * @param rising
  *   of each side values of which one has to rise along its order, if there are any
  */
final class StreamPruning(
    join: JoinToPlan,
    read: Seq[Attribute],
    alone: Seq[Side],
    rising: BySide[Seq[Expression]] = BySide(Nil, Nil)
) extends PredicateHelper {
  import StreamPruning._

  private val children = join.children
  private val ownTimes = children.map(plan => EventTimes.of(plan.output))
  private val condition = join.join.condition.map { c =>
    // Of what prunes as well the first is taken, and of last instants more is known than of edges. Where nothing
    // prunes, the first is named as what would: rarely a key, and of keys one of times.
    val (lasts, others) = splitConjunctivePredicates(c).partition(CarryWindows.comparesLasts)
    val (keys, comparisons) = others.partition(isKey)
    val (times, numbers) = keys.partition(key => remedyOf(key, Nil) != Remedy.Comparison)
    new JoinCondition(
      (lasts ++ comparisons ++ times ++ numbers ++ windowsCompared).reduce(And(_, _)),
      children
    )
  }
  private val rules = mutable.Map.empty[(Side, Order), FrontierRule]

  private lazy val found = best

  /** Along the orders of both sides rises what has to. */
  def rises: Boolean = found.exists(p => Side.both.forall(side => rises(side, p.orders(side))))

  private def rises(side: Side, order: Order): Boolean = condition.forall { c =>
    // To a formula `date_trunc('HOUR', ts)` is one value, and the solver looks into it.
    lazy val ordered = order.term +: written(c, order).map(c.whole.term).toSeq
    rising(side).isEmpty || rising(side).exists { value =>
      val moves = Monotonicity.of(
        c.whole.term(value),
        ordered.map(_ -> Monotonicity.StrictlyIncreasing).toMap
      )
      val along = if (order.direction eq Direction.Descending) moves.reversed else moves
      along == Monotonicity.StrictlyIncreasing
    }
  }

  def spec: StreamSpec =
    StreamSpec(
      join.joinType,
      found.fold(unpruned)(_.sides).map(_.ranks),
      found.fold(unpruned)(_.sides).map(_.rankless),
      ownTimes,
      found.fold(BySide(FrontierRule.Unknown, FrontierRule.Unknown))(p =>
        BySide.make(side => ruleOf(side, p.orders(side)))
      ),
      freed(join.told(said(found))),
      BySide.make(side => found.fold[Long => Long](_ => Frontier.Unknown)(bound(_, side))),
      outputWatermark(found),
      bounded
    )

  /** Rows wait as long as a row of the other side may come that is in their reach. */
  private def bound(pruning: Pruning, side: Side): Long => Long =
    if (pruning.texts(side).whyNot.isDefined) _ => Frontier.Unknown
    else
      new FollowingRank(
        knowing(pruning.ends(side)),
        pruning.orders(side.other),
        pruning.orders(side)
      )

  private lazy val compared =
    condition.getOrElse(new JoinCondition(Literal.TrueLiteral, children))

  private lazy val facts = Side.both
    .flatMap(side => WindowFacts.of(children(side)) ++ SameTimes.of(ownTimes(side), children(side)))
    .map(compared.whole.term)

  private def knowing(term: Term) = facts.foldLeft(term)(Term.Call(Logic.And, _, _))

  private def outputWatermark(found: Option[Pruning]): Long => Option[Long] = {
    def end(side: Side) = found.flatMap { p =>
      val reached = p.orders(side.other)
      ruleOf(side.other, reached).ofEventTime
        .filter(_ => p.texts(side).whyNot.isEmpty)
        .map(rule => new AloneAt(knowing(p.ends(side)), reached, rule.rankFrom))
    }
    new OutputWatermark(
      knowing(compared.whole.term(compared.expression)),
      compared.whole,
      ownTimes.map(_.filter(_.references.subsetOf(AttributeSet(read)))),
      BySide.make(times),
      alone,
      end
    )
  }

  private lazy val bounded = children.map(BoundedStream.names)

  /** What is not pruned waits until the other side is over, if that is to be, or is forgotten some day. */
  private def freed(texts: BySide[SidePruning]): BySide[SidePruning] = BySide.make { side =>
    val streams = bounded(side.other)
    if (texts(side).whyNot.isEmpty) texts(side)
    else if (streams.nonEmpty) texts(side).untilOver(streams)
    else StateTtl.on(children(side)).fold(texts(side))(ttl => texts(side).forgottenBy(ttl.text))
  }

  /** Windows that are equal end together. */
  private def windowsCompared: Seq[Expression] =
    equalTimes.filterNot { case (l, r) => equals(l, r) }.map { case (l, r) => EqualTo(l, r) }

  private def equals(l: Expression, r: Expression) =
    join.keys.left.zip(join.keys.right).exists { case (a, b) =>
      a.semanticEquals(l) && b.semanticEquals(r)
    }

  private def isKey(conjunct: Expression) = conjunct match {
    case EqualTo(l, r) => equals(l, r) || equals(r, l)
    case _ => false
  }

  /** The event times that a key compares, of either side with what the other compares it with. */
  private lazy val equalTimes: Seq[(Expression, Expression)] =
    join.keys.left.zip(join.keys.right).flatMap { case (l, r) =>
      if (EventTimes.isTime(l) || EventTimes.isTime(r))
        Some((EventTimes.time(l), EventTimes.time(r)))
      else None
    }

  /** As Spark has it, a watermark on a key is one of both sides, where the other has none. */
  private def times(side: Side): Seq[Expression] =
    if (ownTimes(side).nonEmpty) ownTimes(side)
    else equalTimes.map { case (l, r) => if (side eq Side.Left) l else r }

  /** Of two that prune as many sides the one that Spark compiles. */
  private def best: Option[Pruning] = byFormulas match {
    case Some(formulas) if prunes(formulas) == Side.both.size => Some(formulas)
    case formulas => (formulas ++ bySolving.filter(prunes(_) > 0)).maxByOption(prunes)
  }

  private def unpruned = BySide.make(_ => SideExpressions.unpruned)

  /** Of several reasons the one that is nearest to pruning: only NULL is in the way. */
  private def said(found: Option[Pruning]): BySide[SidePruning] = BySide.make { side =>
    val text = found.fold(SidePruning.not(WhyNot.NoComparison()))(_.texts(side))
    if (text.whyNot.isEmpty) text
    else
      bySolving.flatMap(_.texts(side).whyNot) match {
        case Some(why: WhyNot.MatchesNull) => text.unlessFor(why)
        case _ => text
      }
  }

  private def prunes(pruning: Pruning): Int =
    Side.both.count(pruning.texts(_).whyNot.isEmpty)

  private lazy val byFormulas: Option[Pruning] = condition.flatMap { c =>
    OrderChoice.ofStreams(c.across)(isKnown).map { choice =>
      val text = new PruningText(choice, c.conjunctOf)
      Pruning(
        choice.orders,
        BySide.make(SideExpressions.of(_, choice, c.translation)),
        BySide.make(side => told(side, choice.orders, text.of(side))),
        BySide.make(side => ending(c, choice.prunedBy(side)))
      )
    }
  }

  /** The comparisons that the end of a reach was made of. */
  private def ending(c: JoinCondition, bounds: Seq[ReachBound]): Term =
    c.whole.term(
      bounds
        .map(bound => c.sourceOf(bound.from))
        .distinct
        .reduceOption(And(_, _))
        .getOrElse(Literal.TrueLiteral)
    )

  private lazy val bySolving: Option[Pruning] = condition.flatMap { c =>
    val terms = BySide.make(_ => c.whole.term(c.expression))
    SolvedChoice
      .ofStreams(terms, BySide.make(c.sortable), c.whole.source(_).isDefined, notNull(c))(isKnown)
      .map { choice =>
        Pruning(
          choice.orders,
          BySide.make(SideExpressions.solved(_, choice, c.whole)),
          BySide.make { side =>
            val found = PruningText.solved(side, choice, c.expression.toString)()
            if (found.whyNot.isEmpty && choice.mayMatchNull(side.other))
              found.unlessFor(WhyNot.MatchesNull(side, choice.orders(side.other).term.toString))
            else told(side, choice.orders, found)
          },
          terms
        )
      }
  }

  /** That columns of the condition have a value, where what is below the join says so. */
  private def notNull(c: JoinCondition): Option[Term] = {
    val asked = c.expression.references
    val known = for {
      side <- Side.both
      column <- children(side).output.filter(asked.contains)
      if !column.nullable || children(side).constraints.contains(IsNotNull(column))
    } yield IsNotNull(column): Expression
    known.reduceOption(And(_, _)).map(c.whole.term)
  }

  /** A reach that ends helps only where the other side is known to come in its order. */
  private def told(side: Side, orders: BySide[Order], found: SidePruning): SidePruning =
    if (found.whyNot.isDefined || ruleOf(side.other, orders(side.other)).isKnown) found
    else found.unlessFor(unknown(side, orders(side.other).term))

  /** Why nothing says how far the side has come that rows of `side` match, if nothing does. */
  def noFrontier(side: Side): Option[WhyNot] =
    found
      .map(_.orders(side.other))
      .filterNot(ruleOf(side.other, _).isKnown)
      .map(order => unknown(side, order.term))

  private def unknown(side: Side, order: Term): WhyNot =
    Direction.both
      .map(Order(order, _))
      .find(along => condition.exists(c => anyRule(c, side.other, along).isKnown))
      .fold[WhyNot](WhyNot.NoFrontier(side, order.toString, remedy(side.other, order)))(along =>
        WhyNot.MatchFalls(side, along.toString)
      )

  /** @param side
    *   whose rows come in no known order
    */
  private def remedy(side: Side, order: Term): Remedy = condition
    .flatMap(written(_, Order(order, Direction.Ascending)))
    .fold[Remedy](Remedy.Comparison)(remedyOf(_, watermarked(side)))

  /** Spark's watermarks are on instants.
    * @param others
    *   the columns that have one
    */
  private def remedyOf(value: Expression, others: Seq[String]): Remedy =
    value.references
      .map(_.dataType)
      .collectFirst {
        case TimestampType => Remedy.Watermark(others)
        case TimestampNTZType | DateType => Remedy.WatermarkBelow
      }
      .getOrElse(Remedy.Comparison)

  /** By name, also those that nothing reads, which do not come out of it. */
  private def watermarked(side: Side): Seq[String] =
    children(side).collect { case mark: EventTimeWatermark => mark.eventTime.name }.distinct

  private def isKnown(side: Side, order: Order): Boolean = ruleOf(side, order).isKnown

  private def ruleOf(side: Side, order: Order): FrontierRule =
    condition.fold(FrontierRule.Unknown)(c =>
      rules.getOrElseUpdate((side, order), rule(c, side, order))
    )

  private def rule(c: JoinCondition, side: Side, order: Order): FrontierRule =
    if (rises(side, order)) anyRule(c, side, order) else FrontierRule.Unknown

  /** Also of an order along which falls what has to rise. */
  private def anyRule(c: JoinCondition, side: Side, order: Order): FrontierRule =
    written(c, order).fold(FrontierRule.Unknown) { e =>
      FrontierRule(
        EventTimes.rankOf(e, order.direction, children(side), times(side)),
        DeclaredFrontiers.of(e, order.direction, children(side))
      )
    }

  private def written(c: JoinCondition, order: Order): Option[Expression] =
    c.whole.source(order.term).orElse(scala.util.Try(c.translation.source(order.term)).toOption)
}

object StreamPruning {

  def of(join: JoinToPlan, read: Seq[Attribute]): StreamPruning = new StreamPruning(
    join,
    read,
    JoinOutput.roles(join.joinType).toSeq.flatMap { roles =>
      Side.both.filter(side => roles(side).leaves eq Leaving.Aloud)
    }
  )

  /** @param ends
    *   what the end of a side's reach was made of
    */
  final private case class Pruning(
      orders: BySide[Order],
      sides: BySide[SideExpressions],
      texts: BySide[SidePruning],
      ends: BySide[Term]
  )
}
