// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.internal.SQLConf

import plait.constraint.{Compare, Term}
import plait.join.Rankless
import plait.order.{AllReached, Direction, Order, OrderChoice, SolvedChoice, WhyNot}
import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.plan.OrderedBy
import plait.spark.side.SidePruning
import plait.spark.translate.{CaseReachEnds, SideExpressions}
import plait.spark.{JoinStrategyChoice, PlaitConf}
import plait.{BySide, Side}

/** A join of two sides that are dealt to tasks by key, each sorted by the order that prunes best: by
  * formulas where the comparisons of the condition give them, else solved for each row.
  *
  * {{{
  * l.k = r.k AND l.t BETWEEN r.t - 5 AND r.t       left by t, reaches [t, t + 5]; right by t, [t - 5, t]
  * l.k = r.k, with SYMMETRIC_HASH(l, r)            neither is sorted, neither is pruned
  * a.lo <= b.hi AND b.lo <= a.hi                   no key: all rows in one task, if both are pruned
  * }}}
  */
object PartitionedPlan {

  /** What prunes a join, as expressions and in words. */
  final private case class Pruning(
      sides: BySide[SideExpressions],
      text: BySide[SidePruning],
      points: Int = 0
  )

  /** By how many points solving must prune better: formulas are compiled, and their points no guess. */
  private val Advantage = 2

  def of(
      join: JoinToPlan,
      choice: JoinStrategyChoice,
      children: BySide[SparkPlan]
  ): Either[WhyNot, SparkPlan] =
    pruned(join)(_ => None, whyAllReached(choice)).left
      .flatMap(unpruned(_, choice))
      .map(node(join, _, children))

  /** A join without keys. One task that keeps all rows of a side would be worse than many that compare
    * all pairs, and so would one whose rows are guessed to leave some time.
    */
  def gathered(join: JoinToPlan, children: BySide[SparkPlan]): Either[WhyNot, SparkPlan] =
    for {
      pruning <- pruned(join)(_.whyNotTwoEnded.map(WhyNot.KeptInOneTask(_)), _ => None)
      whys = Side.both.flatMap(pruning.text(_).whyNot)
      _ <- whys.headOption.map(WhyNot.KeptInOneTask(_)).toLeft(())
    } yield {
      val why = s"in one task: ${WhyNot.NotInRanges(join.typeName, RangeSplit.whyNot(join))}"
      node(join, pruning.copy(text = pruning.text.map(_.and(why))), children)
    }

  private def node(join: JoinToPlan, pruning: Pruning, children: BySide[SparkPlan]): SparkPlan =
    SymmetricHashJoinExec(
      join.keys.left,
      join.keys.right,
      join.joinType,
      join.residual,
      pruning.sides.left.order,
      pruning.sides.right.order,
      pruning.sides.left.ranks,
      pruning.sides.right.ranks,
      children.left,
      children.right,
      pruning.sides.map(_.rankless)
    )(join.told(pruning.text))

  private def pruned(join: JoinToPlan)(
      whyNotSolved: SolvedChoice => Option[WhyNot],
      whyNot: JoinCondition => Option[WhyNot]
  ): Either[WhyNot, Pruning] =
    join.residual.toRight(WhyNot.NoComparison()).flatMap { expression =>
      val footers = footersOf(join, expression)
      val condition =
        new JoinCondition(expression, join.children, join.equalities, footers.map(_.facts))
      whyNot(condition).toLeft(()).flatMap(_ => better(condition, footers)(whyNotSolved))
    }

  private def better(condition: JoinCondition, footers: BySide[FooterFacts])(
      whyNotSolved: SolvedChoice => Option[WhyNot]
  ): Either[WhyNot, Pruning] = {
    val formulas = byFormulas(condition, footers)
    def isWhole(found: Pruning) = Side.both.forall(found.text(_).whyNot.isEmpty)
    if (formulas.exists(found => isWhole(found) || condition.isOneEnded)) formulas
    else {
      val solved = bySolving(condition, footers)(whyNotSolved)
      if (formulas.exists(_.points + Advantage > solved.fold(_ => 0, _.points))) formulas
      else solved
    }
  }

  /** A join that would prune nothing is Spark's, unless it was asked for. */
  private def whyAllReached(
      choice: JoinStrategyChoice
  )(condition: JoinCondition): Option[WhyNot] = {
    val known = Side.both.flatMap(condition.belowAndInFiles(_))
    val mayGain = choice == JoinStrategyChoice.Always || known.isEmpty ||
      !AllReached.of(condition.whole.term(condition.expression), known)
    if (mayGain) None
    else Some(WhyNot.AllReached(known.map(condition.conjunctOf).distinct.mkString(", ")))
  }

  private def footersOf(join: JoinToPlan, expression: Expression): BySide[FooterFacts] = {
    val most = PlaitConf(SQLConf.get).mostFooters
    BySide.make(side => FooterFacts.of(join.children(side), expression.references, most))
  }

  /** Narrower reaches where the files of both sides still are those whose footers say so. */
  private def whileFilesStand(
      narrow: BySide[SideExpressions],
      wide: BySide[SideExpressions],
      footers: BySide[FooterFacts]
  ): BySide[SideExpressions] = {
    val files = Side.both.flatMap(footers(_).files).distinct
    BySide.make(side => SideExpressions.whileFilesStand(narrow(side), wide(side), files))
  }

  /** What footers say of a side's order ends what the *other* side reaches. */
  private def told(
      text: BySide[SidePruning],
      footers: BySide[FooterFacts],
      isNarrowed: Side => Boolean
  ): BySide[SidePruning] = BySide.make { side =>
    val facts = footers(side.other).facts
    if (facts.isEmpty || !isNarrowed(side)) text(side)
    else text(side).and(s"footers: ${facts.mkString(", ")}")
  }

  /** A plain hash join of two sides that are read in turn, if it is wanted. */
  private def unpruned(why: WhyNot, choice: JoinStrategyChoice): Either[WhyNot, Pruning] =
    Either.cond(
      choice == JoinStrategyChoice.Always,
      Pruning(BySide.make(_ => SideExpressions.unpruned), BySide.make(_ => SidePruning.not(why))),
      why
    )

  /** The comparisons of the condition give the reach as formulas, which Spark compiles. */
  private def byFormulas(
      condition: JoinCondition,
      footers: BySide[FooterFacts]
  ): Either[WhyNot, Pruning] =
    OrderChoice
      .best(condition.across, BySide.make(offered(condition, _)), condition.belowAndInFiles)
      .map { choice =>
        val plain = OrderChoice.knowing(choice.orders, condition.across, condition.below)
        def sides(of: OrderChoice) =
          BySide.make(SideExpressions.of(_, of, condition.translation))
        val found = whileFilesStand(sides(choice), sides(plain), footers)
        def isPlain(side: Side) = plain.whyNotPruned(side) == choice.whyNotPruned(side)
        val text = BySide.make { side =>
          new PruningText(if (isPlain(side)) plain else choice, condition.conjunctOf).of(side)
        }
        Pruning(
          served(found, condition),
          told(text, footers, side => choice.reaches(side) != plain.reaches(side)),
          choice.points
        )
      }

  /** No formula does: the cases of the condition give the reach, or the solver finds it for each row. */
  private def bySolving(condition: JoinCondition, footers: BySide[FooterFacts])(
      whyNot: SolvedChoice => Option[WhyNot]
  ): Either[WhyNot, Pruning] = {
    val whole = condition.whole
    val computable = whole.source(_: Term).isDefined
    def under(orders: BySide[Order], term: Side => Term) =
      SolvedChoice.under(orders, BySide.make(term), computable)
    SolvedChoice
      .guessed(condition.termsToGuessBy, BySide.make(condition.sortable), computable)
      .flatMap(guess => whyNot(guess).toLeft(guess))
      .map { guess =>
        val choice = under(guess.orders, condition.termForFiles)
        val plain = under(guess.orders, condition.termFor)
        val byCases = BySide.make(casesOf(_, condition, guess, plain))
        def sides(of: SolvedChoice, known: BySide[Seq[Compare]]) = BySide.make { side =>
          if (byCases(side).isEmpty) SideExpressions.solved(side, of, whole)
          else {
            val ends = condition.byCases(of.reaches(side), known(side.other))
            SideExpressions.byCases(side, of, whole, ends)
          }
        }
        val found =
          whileFilesStand(
            sides(choice, condition.belowAndInFiles),
            sides(plain, condition.below),
            footers
          )
        val written = condition.withEqualities.toString
        val text = BySide.make { side =>
          byCases(side).fold(
            PruningText.solved(side, choice, written)(guess.whyNotPruned(side))
          )(cases =>
            PruningText.byCases(side, choice, written, cases.reach)(guess.whyNotPruned(side))
          )
        }
        Pruning(
          served(found, condition),
          told(text, footers, _ => true),
          guess.points
        )
      }
  }

  /** The reach of a side by the cases of the condition, if they prune it and it ends where that by solving does; and
    * if solving, which takes long, would hardly prune it either.
    */
  private def casesOf(
      side: Side,
      condition: JoinCondition,
      guess: SolvedChoice,
      choice: SolvedChoice
  ): Option[CaseReachEnds] =
    Some(condition.byCases(choice.reaches(side), condition.below(side.other))).filter { cases =>
      !guess.isPruned(side) || cases.follows(choice.orders(side.other).direction) &&
      cases.isAsGoodAs(guess.reaches(side).follows)
    }

  /** A side that comes in an order as good as the one wanted keeps it. Where rows without an order value
    * must come first, none but the very order is as good.
    */
  private def served(
      sides: BySide[SideExpressions],
      condition: JoinCondition
  ): BySide[SideExpressions] = {
    val orders = new ServedOrder(condition.whole)
    BySide.make { side =>
      if (sides(side).rankless eq Rankless.Matching) sides(side)
      else {
        val offered = condition.children(side).outputOrdering
        sides(side).copy(order = sides(side).order.map(orders.of(_, offered)))
      }
    }
  }

  /** The orders that a side has already or that were declared of it, as far as the condition names
    * them. What was declared is dealt anew by key, and comes in few stretches that are in order.
    */
  private def offered(condition: JoinCondition, side: Side): Seq[Order] = {
    val child = condition.children(side)
    val declared = declaredIn(child)
    (child.outputOrdering.headOption.toSeq ++ declared).flatMap {
      case SortOrder(expression, direction, _, _) =>
        condition.translation.term(expression).map { term =>
          Order(term, if (direction == Ascending) Direction.Ascending else Direction.Descending)
        }
    }
  }

  /** Also below what adaptive execution has run already, which hides its plan. */
  private def declaredIn(plan: LogicalPlan): Seq[SortOrder] = plan match {
    case OrderedBy(order, _, _, child, _) => order +: declaredIn(child)
    case LogicalQueryStage(logical, _) => declaredIn(logical)
    case Project(columns, child) => declaredIn(child).map(named(_, columns))
    case other => other.children.flatMap(declaredIn)
  }

  /** An order by what a column is computed from, as that column is called above. */
  private def named(order: SortOrder, columns: Seq[NamedExpression]): SortOrder = {
    val names = columns.collect { case alias: Alias => alias }
    val kept = AttributeSet(columns.collect { case a: Attribute => a })
    def nameOf(e: Expression) = names.find(_.child.semanticEquals(e)).map(_.toAttribute)
    val child = order.child.transformDown {
      case e if !e.references.subsetOf(kept) => nameOf(e).getOrElse(e)
    }
    order.copy(child = child)
  }
}
