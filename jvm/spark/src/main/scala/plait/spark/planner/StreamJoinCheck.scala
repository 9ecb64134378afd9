// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.jdk.CollectionConverters._

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.{StreamingRelationV2, WriteToStream}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.{SparkSession, classic}

import plait.join.{Leaving, Matching, Role}
import plait.order.WhyNot
import plait.spark.plan.{
  AsOfJoin,
  BoundedStream,
  ClauseError,
  StreamAsOfCarrier,
  StreamJoin,
  StreamJoinCarrier
}
import plait.spark.side.JoinOutput
import plait.spark.stream.StreamSpec
import plait.spark.{PlaitConf, UnboundedState}
import plait.{BySide, Side}

/** Says of a query that starts which of its joins will keep rows for ever, or refuses it:
  *
  * {{{
  * a side is not pruned, and                                     default
  *   its rows come out when nothing can match them any more      error: they would never come out
  *   it is the left one of a SEMI join                           error: as Spark has it
  *   its rows come out in pairs only, or never                   warn
  * no side is pruned, and there is no equality                   error, whatever is set
  * the rows of a key are limited, and there is no equality       error: there are no keys
  * rows come out alone, and the output mode is update            error: they could not be taken back
  * }}}
  */
final class StreamJoinCheck(session: SparkSession) extends (LogicalPlan => Unit) with Logging {
  override def apply(plan: LogicalPlan): Unit = plan match {
    case write: WriteToStream =>
      val query = StreamJoins.settled(write.inputQuery)
      if (query.exists(StreamJoins.typeOf(_).isDefined)) {
        settingsAreKnown()
        query.foreach(checkMode(_, write.outputMode))
        TimeOfBatch.check(query)
        checkBounded(query)
        // The optimizer makes a filter of what is said of a side in ON.
        query.foreach {
          case carrier: StreamJoinCarrier => StoredSubqueries.check(carrier.join)
          case carrier: StreamAsOfCarrier => StoredSubqueries.check(carrier.join)
          case _ => ()
        }
        checkAll(optimized(write.inputQuery))
      }
    case _ => ()
  }

  /** The joins with the conditions and in the sequence in which each micro-batch will have them: an equality may stand
    * in a WHERE above a view, or follow from two others.
    */
  private def optimized(query: LogicalPlan): LogicalPlan = {
    val state = session.asInstanceOf[classic.SparkSession].sessionState
    // Costs do not order the joins of a micro-batch.
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.CBO_ENABLED, false)
    SQLConf.withExistingConf(conf) {
      state.optimizer.execute(
        state.planNormalizationRules.foldLeft(query.clone())((plan, rule) => rule(plan))
      )
    }
  }

  /** Else one that is no such value would be told of when the first rows come. */
  private def settingsAreKnown(): Unit = {
    val conf = PlaitConf(SQLConf.get)
    val _ = (
      conf.eventTimeFrontier,
      conf.lateRows,
      conf.orderViolationInStreams,
      conf.unboundedState,
      conf.keyLimit,
      conf.atStateTtl
    )
  }

  private def checkMode(plan: LogicalPlan, mode: OutputMode): Unit =
    if (mode == OutputMode.Update())
      for (joinType <- StreamJoins.typeOf(plan) if givesAlone(joinType))
        throw ClauseError(
          s"A ${joinType.sql} join of streams cannot run in output mode update, because a row that came out without a " +
            "match could not be taken back. Use output mode append.",
          plan.origin
        )

  private def givesAlone(joinType: JoinType): Boolean =
    JoinOutput.roles(joinType).exists(roles => Side.both.exists(roles(_).leaves eq Leaving.Aloud))

  /** @param above
    *   what waits for event time to go on, above this plan
    */
  private def checkAll(plan: LogicalPlan, above: Option[LogicalPlan] = None): Unit = plan match {
    case join: StreamJoin =>
      check(join, above)
      join.children.foreach(checkAll(_, Some(join.join)))
    case join: AsOfJoin if StreamAsOf.isOfStreams(join) =>
      checkAsOf(join, above)
      join.children.foreach(checkAll(_, Some(join)))
    case waits @ (_: Aggregate | _: Deduplicate | _: DeduplicateWithinWatermark) =>
      waits.children.foreach(checkAll(_, Some(waits)))
    case other => other.children.foreach(checkAll(_, above))
  }

  /** A source that waits for more than has come gives an empty micro-batch, too. */
  private def checkBounded(plan: LogicalPlan): Unit = plan.foreach {
    case BoundedStream(relation, child) =>
      for (options <- child.collectLeaves().collect(optionsOf))
        if (options.keysIterator.exists(_.equalsIgnoreCase(WaitsForMore)))
          throw ClauseError(
            s"BOUNDED($relation): the stream is over with the first micro-batch for which its source has nothing, and with the " +
              s"option $WaitsForMore the source may have nothing while it waits for more. Leave the option out.",
            child.origin
          )
    case _ => ()
  }

  private val WaitsForMore = "minOffsetsPerTrigger"

  private val optionsOf: PartialFunction[LogicalPlan, Map[String, String]] = {
    case relation: StreamingRelationV2 => relation.extraOptions.asCaseSensitiveMap.asScala.toMap
    case relation: StreamingRelation => relation.dataSource.options
  }

  private def check(join: StreamJoin, above: Option[LogicalPlan]): Unit = {
    val toPlan = JoinToPlan.of(join.join)
    val spec = StreamPlanning.of(join)(StreamPruning.of(toPlan, join.read).spec)
    StoredSubqueries.check(join.join)
    val whys = BySide.make(side => spec.pruning(side).whyNot)
    if (!toPlan.hasKeys && Side.both.forall(whys(_).isDefined))
      throw ClauseError(
        "A join of streams without equality predicate is not supported where nothing prunes it either, because every " +
          s"row would be compared with all that ever come: ${withoutNumbers(whys.left.get.sentence)}",
        join.origin
      )
    checkLimit(toPlan.hasKeys, join.origin)
    for (side <- Side.both; why <- whys(side) if !isMeantToStay(side, toPlan))
      tell(side, why, spec, join.origin)
    tellOfTime(spec, above, join.origin)
  }

  /** All rows of a side that is bounded are kept, for which the other's need not be. */
  private def isMeantToStay(side: Side, join: JoinToPlan): Boolean =
    BoundedStream.names(join.children(side)).nonEmpty &&
      !isAwaited(JoinOutput.roles(join.joinType).get(side))

  /** Is nothing known of how late its rows may be? */
  private def tellOfTime(spec: StreamSpec, above: Option[LogicalPlan], at: Origin): Unit =
    for (waiting <- above if spec.outputWatermark(AnyWatermark).isEmpty)
      tell(
        UnboundedState.Warn,
        s"The ${waiting.nodeName} above this ${spec.joinType.sql} join of streams learns no watermark from it, so it may never clean " +
          "its state, or give out what waits for one: nothing bounds how late the event times are of the rows that come out",
        at
      )

  private val AnyWatermark = 1700000000000L

  private def checkLimit(hasKeys: Boolean, at: Origin): Unit =
    for (limit <- PlaitConf(SQLConf.get).keyLimit if !hasKeys)
      throw ClauseError(
        s"${PlaitConf.MostOfKey}=${limit.most} limits the rows of a key, and this join of streams has no equality, so no " +
          s"keys. Set ${PlaitConf.MostOfKey}=none for this query",
        at
      )

  /** Left rows that are never answered are no join; right rows that are never dropped are a warning. */
  private def checkAsOf(join: AsOfJoin, above: Option[LogicalPlan]): Unit = {
    val spec = StreamPlanning.of(join)(StreamAsOf.spec(join))
    tellOfTime(spec, above, join.origin)
    checkLimit(AsOfKeys.of(join).keys.left.nonEmpty, join.origin)
    for (why <- spec.pruning.left.whyNot)
      throw ClauseError(
        s"In this as-of join of streams left rows would wait for ever: ${withoutNumbers(why.sentence)} [${why.code}]",
        join.origin
      )
    for (why <- spec.pruning.right.whyNot)
      tell(
        UnboundedState.Warn,
        s"This as-of join of streams keeps right rows for ever: ${why.sentence} [${why.code}]",
        join.origin
      )
  }

  private def tell(side: Side, why: WhyNot, spec: StreamSpec, at: Origin): Unit = {
    val roles = JoinOutput.roles(spec.joinType).get
    val text = s"This ${spec.joinType.sql} join of streams keeps ${side.name} rows for ever" +
      (if (roles(side).leaves eq Leaving.Aloud) ", and those without a match never come out"
       else "") +
      s": ${why.sentence} [${why.code}]"
    val byDefault = if (isAwaited(roles(side))) UnboundedState.Error else UnboundedState.Warn
    tell(byDefault, text, at)
  }

  private def tell(byDefault: UnboundedState, text: String, at: Origin): Unit =
    PlaitConf(SQLConf.get).unboundedState match {
      case UnboundedState.Auto => act(byDefault, text, at)
      case chosen => act(chosen, text, at)
    }

  private def act(as: UnboundedState, text: String, at: Origin): Unit = as match {
    case UnboundedState.Error =>
      val fix = s"To run it all the same, set ${PlaitConf.Unbounded}=allow"
      throw ClauseError(s"${withoutNumbers(text)}. $fix", at)
    case UnboundedState.Warn =>
      logWarning(s"${withoutNumbers(text)}. ${PlaitConf.Unbounded}=allow says that this is meant.")
    case UnboundedState.Allow | UnboundedState.Auto => ()
  }

  /** `ts` for `ts#7`: there is no plan here in which the number could be looked up. */
  private def withoutNumbers(text: String): String = text.replaceAll("(?<=\\w)#\\d+L?\\b", "")

  /** Whether its rows come out when it is known of them whether they match. */
  private def isAwaited(role: Role): Boolean =
    (role.leaves eq Leaving.Aloud) || (role.matches eq Matching.Settles)
}
