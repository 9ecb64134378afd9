// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.DynamicPruning
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{BROADCAST, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.{BroadcastPartitioning, IdentityBroadcastMode}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.joins.HashedRelationBroadcastMode
import org.apache.spark.sql.execution.joins.plait.BroadcastRelation
import org.apache.spark.sql.internal.SQLConf

import plait.Side
import plait.order.WhyNot
import plait.spark.{IndexChoice, JoinStrategyChoice, PlaitConf}

/** How a join is spread over tasks. */
sealed trait JoinMode

object JoinMode extends JoinSelectionHelper {

  /** Both sides are dealt to tasks by key. */
  case object Partitioned extends JoinMode

  /** All rows of both sides go to one task. */
  case object Gathered extends JoinMode

  /** One side is sent to every executor, the other stays where it is. */
  final case class Collected(side: Side, partners: Partners, pays: IndexPays) extends JoinMode

  /** What is known, when a join is planned, of whether an index is quicker than to go through the rows of a key. */
  sealed trait IndexPays

  /** It is, or there is no other way. */
  case object Surely extends IndexPays

  /** It is if enough rows stream through. */
  case object IfEnoughStream extends IndexPays

  /** The rows of a key are to be counted once the side is broadcast; if enough share one, the rest is as said. */
  final case class IfEnoughShare(rest: IndexPays) extends IndexPays

  /** With fewer rows to a key than this, going through all of them is quicker than an index. */
  val EnoughPartners = 16L

  /** To index a row takes as long as to go through so many others by key. */
  val RowsToAnIndexed = 8L

  /** What was counted of a broadcast last. */
  private val Counted = new TreeNodeTag[Count]("plait.partners")
  final private case class Count(enough: Long, partners: Double)

  /** {{{
    * no key        one side is small                            Collected
    *               none is, and RangeSplit gave it no key       Gathered, unless the pairs are few
    * a key         no side is small                             Partitioned
    *               one is small, by adaptive execution          Spark's broadcast join first, if it has one; once it
    *                                                            is broadcast its keys are counted:
    *                                                            many rows a key: Collected, its index made at once where
    *                                                            it is known that enough rows stream through, else late
    *               one is small, else                           Collected, the same; by key alone if its keys, counted
    *                                                            once it is broadcast, are seen to have few rows
    * }}}
    *
    * Small is what Spark would broadcast, by its hint or its size; `always` deals by key for all that. Of a side that
    * adaptive execution has shuffled the size is the one that was seen: what the shuffle wrote is broadcast from there.
    *
    * A hint to broadcast a side that no join by key of this type can broadcast says nothing, as to Spark. Without a key
    * Spark's nested loop broadcasts any side, and the user who asks for that gets it.
    */
  def of(
      join: JoinToPlan,
      choice: JoinStrategyChoice,
      conf: SQLConf
  ): Either[WhyNot, JoinMode] =
    if (isSparksBroadcast(join, choice, conf))
      Left(WhyNot.HintedOtherwise(BROADCAST.displayName))
    else
      Side.both.flatMap(side => broadcastOf(join.children(side)).map(side -> _)) match {
        case Seq((side, stage)) => ofStage(join, side, stage)
        case _ => ofSizes(join, choice, conf)
      }

  /** Does a hint ask for a broadcast where it keeps away what `always` would have made of an equality alone? */
  private def isSparksBroadcast(
      join: JoinToPlan,
      choice: JoinStrategyChoice,
      conf: SQLConf
  ): Boolean =
    choice == JoinStrategyChoice.Always && join.hasKeys && join.residual.isEmpty &&
      smallSide(join, HintsOnly, conf).nonEmpty

  private def ofSizes(
      join: JoinToPlan,
      choice: JoinStrategyChoice,
      conf: SQLConf
  ): Either[WhyNot, JoinMode] = {
    val hinted = smallSide(join, HintsOnly, conf)
    val small = hinted.orElse(smallSide(join, Sizes, conf))
    if (hinted.isEmpty && !join.hasKeys && join.strategies.contains(BROADCAST))
      Left(WhyNot.HintedOtherwise(BROADCAST.displayName))
    else if (!join.hasKeys)
      small.map(side => Right(whole(join, side))).getOrElse {
        RangeSplit.whyAllPairs(join, choice).toLeft(Gathered)
      }
    else if (choice == JoinStrategyChoice.Always && hinted.isEmpty) Right(Partitioned)
    else
      small match {
        case None => Right(Partitioned)
        case Some(side) if conf.adaptiveExecutionEnabled && isHashedBySpark(join) =>
          Left(CollectedPlan.whyNever(join, side).getOrElse(WhyNot.BroadcastFirst(side)))
        case Some(side) =>
          whyBroadcast(join, side).toLeft(whole(join, side, indexPays(join, side, conf)))
      }
  }

  /** Else Spark has no hash join for its keys, and broadcasts neither side. */
  private def isHashedBySpark(join: JoinToPlan): Boolean = join.join match {
    case ExtractEquiJoinKeys(_, left, right, _, _, _, _, _) => hashJoinSupported(left, right)
    case _ => false
  }

  private def whole(join: JoinToPlan, side: Side, pays: IndexPays = Surely): Collected =
    Collected(side, _ => join.rows(side), pays)

  private def indexPays(join: JoinToPlan, side: Side, conf: SQLConf): IndexPays =
    if (isHashedBySpark(join) && PlaitConf(conf).index != IndexChoice.Always)
      IfEnoughShare(ofStreamed(join, side, EnoughPartners.toDouble, None))
    else Surely

  /** Spark's own broadcast join does something that a collected one does not. */
  private def whyBroadcast(join: JoinToPlan, side: Side): Option[WhyNot] =
    if (prunesPartitions(join.children(side.other))) Some(WhyNot.PartitionsPruned(side.other))
    else None

  /** The side that Spark would broadcast, by a hint or by its size. */
  def smallSide(join: JoinToPlan, conf: SQLConf): Option[Side] =
    smallSide(join, HintsOnly, conf).orElse(smallSide(join, Sizes, conf))

  sealed private trait By
  private case object HintsOnly extends By
  private case object Sizes extends By

  private def smallSide(join: JoinToPlan, by: By, conf: SQLConf): Option[Side] =
    getBroadcastBuildSide(join.join, by == HintsOnly, conf).map { build =>
      if (build == BuildLeft) Side.Left else Side.Right
    }

  /** The side is broadcast already: what its keys are can be counted. */
  private def ofStage(
      join: JoinToPlan,
      side: Side,
      stage: BroadcastQueryStageExec
  ): Either[WhyNot, JoinMode] = stage.broadcast.outputPartitioning match {
    case _ if !mayCollect(join, side) => Left(WhyNot.BroadcastAlready(side))
    case BroadcastPartitioning(HashedRelationBroadcastMode(_, false)) if join.hasKeys =>
      ofKeys(join, side, stage)
    case BroadcastPartitioning(IdentityBroadcastMode) if !join.hasKeys => Right(whole(join, side))
    case _ => Left(WhyNot.BroadcastAlready(side))
  }

  /** Spark's nested loop also broadcasts a side whose own rows come out. */
  private def mayCollect(join: JoinToPlan, side: Side): Boolean =
    if (side eq Side.Left) canBuildBroadcastLeft(join.joinType)
    else canBuildBroadcastRight(join.joinType)

  private def ofKeys(
      join: JoinToPlan,
      side: Side,
      stage: BroadcastQueryStageExec
  ): Either[WhyNot, JoinMode] =
    if (!stage.isMaterialized) Left(WhyNot.BroadcastFirst(side))
    else
      whyBroadcast(join, side).toLeft(()).flatMap { _ =>
        if (PlaitConf(SQLConf.get).index == IndexChoice.Always)
          Right(Collected(side, _ => stage.getRuntimeStatistics.rowCount, Surely))
        else ofCounted(join, side, stage)
      }

  private def ofCounted(
      join: JoinToPlan,
      side: Side,
      stage: BroadcastQueryStageExec
  ): Either[WhyNot, JoinMode] = {
    val partners = partnersIn(stage, EnoughPartners)
    Either.cond(
      partners >= EnoughPartners,
      Collected(
        side,
        enough => Some(BigInt(math.ceil(partnersIn(stage, enough)).toLong)),
        ofStreamed(join, side, partners, stage.getRuntimeStatistics.rowCount)
      ),
      if (join.residual.isEmpty) WhyNot.NoComparison()
      else WhyNot.FewPartners(side, partners.toLong)
    )
  }

  /** @param partners
    *   with how many collected rows, at least, a streamed one would be compared
    * @param seen
    *   how many rows are collected, if that has been seen
    */
  private def ofStreamed(
      join: JoinToPlan,
      collected: Side,
      partners: Double,
      seen: Option[BigInt]
  ): IndexPays = {
    // Files tell of both sides how many rows they might be: fewer than there are where they are well packed.
    val guessed = JoinToPlan.rows(join.children(collected) match {
      case LogicalQueryStage(plan, _) => plan
      case plan => plan
    })
    val enough = for {
      rows <- StreamedRows.of(join.children(collected.other))
      toIndex <- (seen ++ guessed).minOption
    } yield rows.toDouble * partners >= toIndex.toDouble * RowsToAnIndexed
    if (enough.contains(true)) Surely else IfEnoughStream
  }

  /** Counted once a broadcast for what is enough, however often adaptive execution plans the join. */
  private def partnersIn(stage: BroadcastQueryStageExec, enough: Long): Double =
    stage.broadcast
      .getTagValue(Counted)
      .filter(_.enough == enough)
      .map(_.partners)
      .getOrElse {
        val broadcast = stage.executeBroadcast[Any]().value
        val rows = stage.getRuntimeStatistics.rowCount.filter(_ > 0)
        val found = BroadcastRelation.rowsPerKey(broadcast, rows, enough.toDouble)
        stage.broadcast.setTagValue(Counted, Count(enough, found))
        found
      }

  private def prunesPartitions(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(_.exists(_.isInstanceOf[DynamicPruning])))

  private def broadcastOf(plan: LogicalPlan): Option[BroadcastQueryStageExec] = plan match {
    case LogicalQueryStage(_, stage: BroadcastQueryStageExec) => Some(stage)
    case _ => None
  }
}
