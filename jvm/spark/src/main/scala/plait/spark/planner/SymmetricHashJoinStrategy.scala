// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Ascending,
  Attribute,
  CollationKey,
  Expression,
  PredicateHelper,
  RowOrdering,
  SortOrder
}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

import plait.constraint.Term
import plait.order.{Direction, Order, OrderChoice, SolvedChoice, WhyNot}
import plait.spark.exec.{JoinOutput, SymmetricHashJoinExec}
import plait.spark.plan.PlaitJoinHint
import plait.spark.translate.{ConditionTranslation, SideExpressions, TermTranslation}
import plait.spark.{JoinStrategyChoice, PlaitConf}
import plait.{BySide, Side}

/** Plans a batch join with an equality and a comparison between the sides as
  * [[SymmetricHashJoinExec]], on demand one without a comparison too, and leaves every other plan to Spark, with a [[WhyNot]] for a join.
  *
  * Under adaptive execution Spark calls it again for the rest of a running plan, whose children may
  * be finished stages.
  */
object SymmetricHashJoinStrategy extends SparkStrategy with PredicateHelper with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: Join if !isSettled(join) =>
      attempt(join) match {
        case Right(node) => Seq(node)
        case Left(why) =>
          logDebug(s"Plait leaves a join to Spark: $why")
          join.setTagValue(Reason, why)
          Nil
      }
    case _ => Nil
  }

  /** Why a join was left to Spark, on the logical join that Spark's node is linked to. */
  val Reason: TreeNodeTag[WhyNot] = TreeNodeTag[WhyNot]("plait.whyNot")

  /** A side was broadcast already: Spark's join on it is the only one that can use it. */
  private def isSettled(join: Join): Boolean = join.children.exists {
    case LogicalQueryStage(_, _: BroadcastQueryStageExec) => true
    case _ => false
  }

  /** Planning never fails a query that Spark can run. */
  private def attempt(join: Join): Either[WhyNot, SparkPlan] = {
    val conf = PlaitConf(SQLConf.get)
    val failsOnError = conf.failsOnPlanningError
    val choice = choiceOf(join.hint, conf)
    if (!conf.enabled) Left(WhyNot.TurnedOff(s"${PlaitConf.Enabled}=false"))
    else
      try node(join, choice)
      catch {
        case NonFatal(e) if !failsOnError =>
          logWarning("Plait failed to plan a join and leaves it to Spark", e)
          Left(WhyNot.PlanningFailed(e.toString))
      }
  }

  private def node(join: Join, choice: JoinStrategyChoice): Either[WhyNot, SparkPlan] = join match {
    case _ if join.isStreaming => Left(WhyNot.StreamingInput())
    case ExtractEquiJoinKeys(joinType, leftKeys, rightKeys, residual, _, left, right, hint) =>
      for {
        _ <- supported(
          JoinOutput.roles(joinType).isDefined,
          WhyNot.JoinTypeNotSupported(joinType.sql)
        )
        _ <- hintedOtherwise(hint).toLeft(())
        _ <- supported(
          choice != JoinStrategyChoice.Never,
          WhyNot.TurnedOff(s"${PlaitConf.JoinStrategy}=${JoinStrategyChoice.Never.name}")
        )
        keys = BySide(leftKeys, rightKeys).map(_.map(hashable))
        _ <- unhashable(keys.left ++ keys.right).toLeft(())
        _ <- residual.filterNot(_.deterministic).map(c => WhyNot.NotDeterministic(c.sql)).toLeft(())
        pruning <- pruningOf(residual, BySide(left, right)).left
          .flatMap(why => unpruned(why, choice))
      } yield SymmetricHashJoinExec(
        keys.left,
        keys.right,
        joinType,
        residual,
        pruning.sides.left.order,
        pruning.sides.right.order,
        pruning.sides.left.ranks,
        pruning.sides.right.ranks,
        planLater(left),
        planLater(right)
      )(pruning.text)
    case _ => Left(WhyNot.NoEquality())
  }

  /** What prunes a join, as expressions and in words. */
  final private case class Pruning(sides: BySide[SideExpressions], text: BySide[String])

  private def pruningOf(
      residual: Option[Expression],
      children: BySide[LogicalPlan]
  ): Either[WhyNot, Pruning] = residual.toRight(WhyNot.NoComparison()).flatMap { condition =>
    val translation = new TermTranslation(children.map(_.outputSet))
    byFormulas(condition, children, translation).left
      .flatMap(_ => bySolving(condition, children, translation))
  }

  /** A plain hash join of two sides that are read in turn, if it is wanted. */
  private def unpruned(why: WhyNot, choice: JoinStrategyChoice): Either[WhyNot, Pruning] =
    Either.cond(
      choice == JoinStrategyChoice.Always,
      Pruning(BySide.make(_ => SideExpressions.unpruned), BySide.make(_ => s"not pruned: $why")),
      why
    )

  /** The comparisons of the condition give the reach as formulas, which Spark compiles. */
  private def byFormulas(
      condition: Expression,
      children: BySide[LogicalPlan],
      translation: TermTranslation
  ): Either[WhyNot, Pruning] = {
    def compared(conjuncts: Seq[Expression]) =
      conjuncts.flatMap(c => translation.compare(c).map(_ -> c))
    val across = compared(splitConjunctivePredicates(condition))
    val below = children.map(child => compared(filters(child)))
    val conjunctOf = (across ++ below.left ++ below.right).toMap
    val offers = children.map(offered(_, translation))
    val known = below.map(_.map(_._1))
    OrderChoice.best(across.map(_._1).distinct, offers, known).map { choice =>
      val text = new PruningText(choice, conjunctOf(_).toString)
      val sides = BySide.make(SideExpressions.of(_, choice, translation))
      val whole = new ConditionTranslation(translation)
      Pruning(served(sides, children, whole), BySide.make(text.of))
    }
  }

  /** No formula does: the solver finds the reach of each row. It is told what the filters below say
    * of the other side.
    */
  private def bySolving(
      condition: Expression,
      children: BySide[LogicalPlan],
      translation: TermTranslation
  ): Either[WhyNot, Pruning] = {
    val whole = new ConditionTranslation(translation)
    val conditions = BySide.make { side =>
      whole.term((condition +: filters(children(side.other))).reduce(And(_, _)))
    }
    val candidates = BySide.make(side => sortable(whole, whole.term(condition), side))
    SolvedChoice.best(conditions, candidates, whole.source(_).isDefined).map { choice =>
      val sides = BySide.make(SideExpressions.solved(_, choice, whole))
      val text = BySide.make(PruningText.solved(_, choice, condition.toString))
      Pruning(served(sides, children, whole), text)
    }
  }

  /** A side that comes in an order as good as the one wanted keeps it. */
  private def served(
      sides: BySide[SideExpressions],
      children: BySide[LogicalPlan],
      translation: ConditionTranslation
  ): BySide[SideExpressions] = {
    val orders = new ServedOrder(translation)
    BySide.make { side =>
      val wanted = sides(side)
      wanted.copy(order = wanted.order.map(orders.of(_, children(side).outputOrdering)))
    }
  }

  /** What holds for every row that comes out of a plan. */
  private def filters(plan: LogicalPlan): Seq[Expression] =
    plan.constraints.toSeq.filter(f => f.deterministic && f.references.nonEmpty)

  /** What the condition holds of a side, columns first: they may come sorted. */
  private def sortable(whole: ConditionTranslation, condition: Term, side: Side): Seq[Term] = {
    val largest = whole.oneSided(condition, side)
    val columns =
      largest.flatMap(_.nodes).filter(t => whole.source(t).exists(_.isInstanceOf[Attribute]))
    (columns ++ largest).distinct.filter(t =>
      whole.source(t).exists(s => RowOrdering.isOrderable(s.dataType))
    )
  }

  private def supported(condition: Boolean, why: => WhyNot): Either[WhyNot, Unit] =
    Either.cond(condition, (), why)

  /** A user who names a join strategy gets it. Adaptive execution adds hints of its own, which say
    * what to avoid (`NO_BROADCAST_HASH`); those are not the user's word. Where
    * `spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold` is set, it may also add a
    * `SHUFFLE_HASH` that cannot be told from a user's; the join then goes to Spark half-way.
    */
  private def hintedOtherwise(hint: JoinHint): Option[WhyNot] =
    strategies(hint).collectFirst {
      case strategy @ (BROADCAST | SHUFFLE_MERGE | SHUFFLE_HASH | SHUFFLE_REPLICATE_NL) =>
        WhyNot.HintedOtherwise(strategy.displayName)
      case PlaitJoinHint.NO_SYMMETRIC_HASH =>
        WhyNot.HintedOtherwise(PlaitJoinHint.NO_SYMMETRIC_HASH.displayName)
    }

  private def choiceOf(hint: JoinHint, conf: PlaitConf): JoinStrategyChoice = {
    val wanted = conf.joinStrategy
    if (strategies(hint).contains(PlaitJoinHint.SYMMETRIC_HASH)) JoinStrategyChoice.Always
    else wanted
  }

  private def strategies(hint: JoinHint): Seq[JoinStrategyHint] =
    Seq(hint.leftHint, hint.rightHint).flatten.flatMap(_.strategy)

  /** Texts that are equal under their collation have equal collation keys. */
  private def hashable(key: Expression): Expression = key.dataType match {
    case text: StringType if !UnsafeRowUtils.isBinaryStable(text) => CollationKey(key)
    case _ => key
  }

  private def unhashable(keys: Seq[Expression]): Option[WhyNot] =
    keys.find(key => !UnsafeRowUtils.isBinaryStable(key.dataType)).map { key =>
      WhyNot.KeyNotHashable(key.sql, key.dataType.sql)
    }

  /** The order that a side has already, as far as the condition names it. */
  private def offered(side: LogicalPlan, translation: TermTranslation): Seq[Order] =
    side.outputOrdering.headOption.toSeq.flatMap { case SortOrder(expression, direction, _, _) =>
      translation.term(expression).map { term =>
        Order(term, if (direction == Ascending) Direction.Ascending else Direction.Descending)
      }
    }
}
