// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.expressions.{ExprId, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.SparkPlan

import plait.BySide
import plait.join.Rankless
import plait.order.Direction
import plait.spark.side.SidePruning
import plait.spark.translate.BestMatch
import plait.stream.{Lifetime, Superseding}

/** What a join of streams is, beyond what Spark's node says of it. It is made from the query alone, and from
  * nothing that differs from batch to batch: the state that one batch leaves is read by all later ones.
  *
  * @param joinType
  *   the true one
  * @param ranks
  *   of each side rank, low and high end of a row, three longs
  * @param eventTimes
  *   the event times that a row of each side has
  * @param frontiers
  *   how each side's frontier is known
  * @param bounds
  *   the least rank of a row of a side that may wait, from the other side's frontier
  * @param outputWatermark
  *   what rows that come out later are after, in milliseconds, if those that come in are after this
  * @param bounded
  *   the streams of a side that are all there when the query starts, if all of its are; else Nil
  * @param asOf
  *   None of a join in which all matches come out
  */
final case class StreamSpec(
    joinType: JoinType,
    ranks: BySide[Seq[Expression]],
    rankless: BySide[Rankless],
    eventTimes: BySide[Seq[Expression]],
    frontiers: BySide[FrontierRule],
    pruning: BySide[SidePruning],
    bounds: BySide[Long => Long],
    outputWatermark: Long => Option[Long],
    bounded: BySide[Seq[String]],
    asOf: Option[AsOfSpec] = None
)

/** Of an as-of join: which row is picked, and what is left of ON beyond the keys. */
final case class AsOfSpec(
    best: BestMatch,
    condition: Option[Expression],
    check: Option[Expression],
    superseding: Superseding,
    order: MatchOrder
)

/** Whether the ranks of both sides rise with the match values. */
sealed trait MatchOrder

object MatchOrder {
  case object ByRank extends MatchOrder
  case object Unknown extends MatchOrder
}

/** How the frontier of a side is known, as a rank of its order.
  *
  * @param ofEventTime
  *   from the time that no later row reaches back to, in microseconds: `rank(time)`; None where the order
  *   does not follow event time
  * @param declared
  *   from what a declared order says; None where the order does not follow one
  */
final case class FrontierRule(
    ofEventTime: Option[EventTimeRank],
    declared: Option[DeclaredFrontier]
) {
  def isKnown: Boolean = ofEventTime.isDefined || declared.isDefined

  /** @param eventTime
    *   no later row is before it, in microseconds
    */
  def atEventTime(micros: Long): Long =
    ofEventTime.fold(Long.MinValue)(_.rankFrom(micros))
}

object FrontierRule {
  val Unknown: FrontierRule = FrontierRule(None, None)
}

/** The least rank of the rows whose event time is at least something. */
trait EventTimeRank {

  /** The one column whose watermark the event time is known by, if there is one. */
  def from: Option[ExprId]
  def rankFrom(micros: Long): Long
}

/** How the least rank of a side's order follows from the frontier of a declared one.
  *
  * @param claim
  *   what is declared, with the columns of the relation
  * @param value
  *   the side's order, with the columns of the side: rows are behind by the value of this
  */
final case class DeclaredFrontier(
    claim: OrderedRows,
    value: Expression,
    direction: Direction,
    rank: DeclaredRank
)

/** The least rank of the rows that are not before a frontier of the declared order, by its rank. */
trait DeclaredRank {
  def rankFrom(seen: Long): Long
}

/** The order that is declared of a relation; see [[plait.spark.plan.OrderedBy]]. */
final case class OrderedRows(order: SortOrder, frontier: Option[Expression], relation: String) {
  def isSameAs(that: OrderedRows): Boolean =
    order.semanticEquals(that.order) &&
      frontier.map(_.canonicalized) == that.frontier.map(_.canonicalized)
}

/** A node that has seen rows of a side of which an order is declared. */
trait DeclaresFrontier { self: SparkPlan =>
  def claim: OrderedRows

  /** The greatest rank, less the slack, of the rows that it has seen in this batch. */
  def seen: Long
}

/** What a micro-batch finds of a side, and the next one may find otherwise. */
final case class MicroBatchSide(supply: Supply, lifetime: Lifetime)

/** Whether the sources of a side have anything for a micro-batch. */
sealed trait Supply

object Supply {
  case object Rows extends Supply
  case object Nothing extends Supply
}
