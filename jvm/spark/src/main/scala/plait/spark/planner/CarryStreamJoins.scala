// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

import plait.order.WhyNot
import plait.spark.PlaitConf
import plait.spark.plan.{
  AsOfJoin,
  JoinsOfCheckpoint,
  KeptTogether,
  PlaitJoinHint,
  StreamAsOfCarrier,
  StreamJoin,
  StreamJoinCarrier
}

/** Which joins are joins of streams that Plait runs: all whose sides are both streams, unless it is turned
  * off or a hint says otherwise.
  */
object StreamJoins {
  def isTaken(join: Join): Boolean = {
    val hints = strategies(join)
    val wanted = hints.contains(PlaitJoinHint.SYMMETRIC_HASH) ||
      PlaitConf(SQLConf.get).turnedOff.isEmpty
    isOfStreams(join) && wanted && !hints.exists(LeavesIt.contains(_))
  }

  /** The plan with what its checkpoint says of who runs them said on the joins themselves. */
  def settled(plan: LogicalPlan): LogicalPlan = AnalysisHelper.allowInvokingTransformsInAnalyzer {
    plan.transformDown { case JoinsOfCheckpoint(query, runBy) =>
      query.transformUp {
        case join: Join if isOfStreams(join) && !strategies(join).exists(isOurs) =>
          hinted(join, runBy)
      }
    }
  }

  private val LeavesIt = Seq(PlaitJoinHint.NO_SYMMETRIC_HASH, PlaitJoinHint.CHECKPOINT_OF_SPARK)

  /** Why Spark runs a join of streams, for the node that it planned. */
  def whyLeft(node: SparkPlan): Option[WhyNot] =
    node.logicalLink.collect { case join: Join if isOfStreams(join) => join }.flatMap(whyLeft)

  def whyLeft(join: Join): Option[WhyNot] =
    if (isAsked(join, PlaitJoinHint.CHECKPOINT_OF_SPARK)) Some(WhyNot.CheckpointOfSpark())
    else if (isAsked(join, PlaitJoinHint.NO_SYMMETRIC_HASH))
      Some(WhyNot.HintedOtherwise(PlaitJoinHint.NO_SYMMETRIC_HASH.displayName))
    else PlaitConf(SQLConf.get).turnedOff.map(WhyNot.TurnedOff(_))

  /** Does a hint say this of who is to run it, or what follows from the checkpoint? */
  def isAsked(join: Join, hint: PlaitJoinHint): Boolean = strategies(join).contains(hint)

  /** Until the optimizer begins, hints are nodes on the sides; what is said on the join itself goes before them. */
  private def strategies(join: Join): Seq[JoinStrategyHint] =
    if (join.hint == JoinHint.NONE) join.children.flatMap(said)
    else Seq(join.hint.leftHint, join.hint.rightHint).flatten.flatMap(_.strategy)

  /** Of several on one side the outermost counts, as in [[HintInfo.merge]]. */
  private def said(side: LogicalPlan): Option[JoinStrategyHint] = side match {
    case ResolvedHint(child, hints) => hints.strategy.orElse(said(child))
    case one: UnaryNode => said(one.child)
    case _ => None
  }

  /** The type of the join of streams of ours that a node is, hidden or not; None if it is none. */
  def typeOf(plan: LogicalPlan): Option[JoinType] = plan match {
    case carrier: StreamJoinCarrier => Some(carrier.joinType)
    case carrier: StreamAsOfCarrier => Some(carrier.joinType)
    case join: Join if isTaken(join) => Some(join.joinType)
    case _ => None
  }

  def isOfStreams(join: Join): Boolean = join.left.isStreaming && join.right.isStreaming

  /** With this said of who is to run it, whatever was said before. */
  def hinted(join: Join, strategy: JoinStrategyHint): Join = {
    val info = join.hint.leftHint.getOrElse(HintInfo()).copy(strategy = Some(strategy))
    val right =
      join.hint.rightHint.map(h => if (h.strategy.exists(isOurs)) h.copy(strategy = None) else h)
    join.copy(hint = JoinHint(Some(info), right))
  }

  /** As if no hint had said this of it. */
  def without(join: Join, strategy: JoinStrategyHint): Join =
    join.mapChildren(unhinted(_, strategy)).asInstanceOf[Join]

  /** A side, or what becomes one, as if no hint on it had said this. */
  def unhinted(side: LogicalPlan, strategy: JoinStrategyHint): LogicalPlan = side match {
    case ResolvedHint(child, hints) if hints.strategy.contains(strategy) =>
      unhinted(child, strategy)
    case one: UnaryNode => one.withNewChildren(Seq(unhinted(one.child, strategy)))
    case other => other
  }

  /** As if none of the query had it. */
  def without(query: LogicalPlan, strategy: JoinStrategyHint): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transformUp { case join: Join if isOfStreams(join) => without(join, strategy) }
    }

  private def isOurs(strategy: JoinStrategyHint): Boolean =
    strategy == PlaitJoinHint.SYMMETRIC_HASH || LeavesIt.contains(strategy)
}

/** Hides joins of streams from Spark's check of what a stream may do, when the query starts:
  *
  * {{{
  * Project(Join(l, r, LeftAnti, c))     Project(StreamJoinCarrier(Join(l, r, Inner, c), LeftAnti))
  * AsOfJoin(l, r, ...)                  a StreamAsOfCarrier, as soon as it is resolved
  * }}}
  *
  * Whose a join is has to be known by then, and not before: the settings of the session count that hold for all joins of the
  * query and for its checkpoint. Where a part of it was made they may have been others, and of a view's text Spark
  * sees none of ours. An as-of join is always ours, and what is resolved above it goes by its times.
  */
object CarryStreamJoins extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = OwnEventTimes(
    plan.resolveOperatorsUp(carryingAsOf)
  )

  /** Of a query that starts, under the settings that count for it. */
  def atStart(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(query.transformUp(carrying))

  private val carryingAsOf: PartialFunction[LogicalPlan, LogicalPlan] = {
    case join: AsOfJoin if join.resolved && StreamAsOf.isTaken(join) =>
      writtenOut(StreamAsOfCarrier.of(join))
  }

  private val carrying: PartialFunction[LogicalPlan, LogicalPlan] = {
    case join: Join if isHidden(join) =>
      writtenOut(StreamJoinCarrier(join.copy(joinType = Inner), join.joinType))
  }

  private def isHidden(join: Join) = join.joinType match {
    case Inner | Cross => false
    case _ => StreamJoins.isTaken(join)
  }

  private def writtenOut(carrier: UnaryNode): LogicalPlan =
    carrier
      .mapExpressions(SharedExpressions.writtenOut)
      .withNewChildren(Seq(carrier.child.mapExpressions(SharedExpressions.writtenOut)))
}

/** Brings them back as what they are, so that the optimizer may push filters and drop columns. */
object RestoreStreamJoins extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case carrier: StreamAsOfCarrier => carrier.join
    case carrier: StreamJoinCarrier =>
      // That it is ours was decided when it was hidden from Spark's check.
      val join = StreamJoins.hinted(carrier.join, PlaitJoinHint.SYMMETRIC_HASH)
      join.joinType match {
        case LeftExistence(_) => join.copy(left = KeptTogether(join.left))
        case _ => join
      }
  }
}

/** Takes them out of the reach of Spark's strategy, when the optimizer has done all else, each with the columns that
  * are read above it:
  *
  * {{{
  * Aggregate window(b.ts), count(*)        reads b.ts
  *   Project b.ts                          reads b.ts
  *     Join a.k = b.k AND b.ts > a.ts      has a.k, a.ts, b.k, b.ts
  * }}}
  */
object TakeStreamJoins extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.isStreaming) taken(StreamJoins.settled(plan), plan.outputSet) else plan

  private def taken(plan: LogicalPlan, read: AttributeSet): LogicalPlan =
    CurrentOrigin.withOrigin(plan.origin) {
      plan.mapChildren(child => taken(child, readBy(plan, read, child))) match {
        case KeptTogether(child) => child
        case join @ Join(left, right, joinType, condition, hint) if StreamJoins.isTaken(join) =>
          StreamPlanning.of(join)(
            StreamRanges.of(
              StreamJoin(left, right, joinType, condition, hint, join.output.filter(read.contains))
            )
          )
        case other => other
      }
    }

  /** What a node reads of a child, if so much of its own rows is read. */
  private def readBy(node: LogicalPlan, read: AttributeSet, child: LogicalPlan): AttributeSet =
    node match {
      case _: Project | _: Aggregate => node.references
      case _: Filter | _: Join | _: KeptTogether => read ++ node.references
      case _ => child.outputSet
    }
}
