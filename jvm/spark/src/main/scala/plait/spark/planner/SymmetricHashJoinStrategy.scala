// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{Ascending, Expression, PredicateHelper, SortOrder}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

import plait.BySide
import plait.order.{Direction, Order, OrderChoice, WhyNot}
import plait.spark.PlaitConf
import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.translate.{SideExpressions, TermTranslation}

/** Plans a batch join with an equality and a comparison between the sides as
  * [[SymmetricHashJoinExec]], and leaves every other plan to Spark, with a [[WhyNot]] for a join.
  *
  * Under adaptive execution Spark calls it again for the rest of a running plan, whose children may
  * be finished stages.
  */
object SymmetricHashJoinStrategy extends SparkStrategy with PredicateHelper with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: Join if PlaitConf(SQLConf.get).enabled && !isSettled(join) =>
      attempt(join) match {
        case Right(node) => Seq(node)
        case Left(why) =>
          logDebug(s"Plait leaves a join to Spark: $why")
          Nil
      }
    case _ => Nil
  }

  /** A side was broadcast already: Spark's join on it is the only one that can use it. */
  private def isSettled(join: Join): Boolean = join.children.exists {
    case LogicalQueryStage(_, _: BroadcastQueryStageExec) => true
    case _ => false
  }

  /** Planning never fails a query that Spark can run. */
  private def attempt(join: Join): Either[WhyNot, SparkPlan] =
    try node(join)
    catch {
      case NonFatal(e) if !PlaitConf(SQLConf.get).failsOnPlanningError =>
        logWarning("Plait failed to plan a join and leaves it to Spark", e)
        Left(WhyNot.PlanningFailed(e.toString))
    }

  private def node(join: Join): Either[WhyNot, SparkPlan] = join match {
    case _ if join.isStreaming => Left(WhyNot.StreamingInput())
    case ExtractEquiJoinKeys(joinType, leftKeys, rightKeys, residual, _, left, right, hint) =>
      for {
        _ <- supported(joinType.isInstanceOf[InnerLike], WhyNot.JoinTypeNotSupported(joinType.sql))
        _ <- hinted(hint).toLeft(())
        _ <- unhashable(leftKeys ++ rightKeys).toLeft(())
        condition <- residual.toRight(WhyNot.NoComparison())
        _ <- supported(condition.deterministic, WhyNot.NotDeterministic(condition.sql))
        translation = new TermTranslation(BySide(left.outputSet, right.outputSet))
        conjuncts = splitConjunctivePredicates(condition)
        compared = conjuncts.flatMap(c => translation.compare(c).map(_ -> c))
        conjunctOf = compared.toMap
        offers = BySide(left, right).map(offered(_, translation))
        choice <- OrderChoice.best(compared.map(_._1).distinct, offers)
      } yield {
        val sides = BySide.make(SideExpressions.of(_, choice, translation))
        val text = new PruningText(choice, conjunctOf(_).toString)
        SymmetricHashJoinExec(
          leftKeys,
          rightKeys,
          joinType,
          residual,
          sides.left.order,
          sides.right.order,
          sides.left.ranks,
          sides.right.ranks,
          planLater(left),
          planLater(right)
        )(BySide.make(text.of))
      }
    case _ => Left(WhyNot.NoEquality())
  }

  private def supported(condition: Boolean, why: => WhyNot): Either[WhyNot, Unit] =
    Either.cond(condition, (), why)

  /** A user who names a join strategy gets it. Adaptive execution adds hints of its own, which say
    * what to avoid (`NO_BROADCAST_HASH`); those are not the user's word. Where
    * `spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold` is set, it may also add a
    * `SHUFFLE_HASH` that cannot be told from a user's; the join then goes to Spark half-way.
    */
  private def hinted(hint: JoinHint): Option[WhyNot] =
    Seq(hint.leftHint, hint.rightHint).flatten.flatMap(_.strategy).collectFirst {
      case strategy @ (BROADCAST | SHUFFLE_MERGE | SHUFFLE_HASH | SHUFFLE_REPLICATE_NL) =>
        WhyNot.HintedOtherwise(strategy.displayName)
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
