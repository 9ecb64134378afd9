// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.CollectionAccumulator

import plait.join.{Matching, Rankless, Role}
import plait.spark.RadixJoinChoice
import plait.spark.side._
import plait.spark.translate.SolvedReachValue
import plait.{BySide, Side}

/** What each task of a join is to do, and what it counts.
  *
  * @param sequence
  *   of both sides
  * @param radix
  *   whether joins are made bucket by bucket
  */
final case class JoinSpec(
    joinType: JoinType,
    sides: BySide[SidePlan],
    rankless: BySide[Rankless],
    condition: Option[Expression],
    sequence: KeySequence,
    radix: RadixJoinChoice,
    metrics: Map[String, SQLMetric],
    trace: Option[CollectionAccumulator[TracePoint]]
) {
  def roles: BySide[Role] = JoinOutput.roles(joinType).get

  /** Is a left row done at its first match? */
  def settlesLeft: Boolean = roles.left.matches eq Matching.Settles

  /** Does it take long to find what a row reaches? */
  def isSolved: Boolean =
    Side.both.exists(sides(_).ranks.exists(_.exists(_.isInstanceOf[SolvedReachValue])))

  def keyForm(side: Side): KeyForm = sequence match {
    case KeySequence.Known => KeyForm.inSequence(sides(side).keys)
    case KeySequence.Unknown => KeyForm.inMemory(sides(side).keys)
  }

  /** Of rows that probe rows which are looked at one by one: the key in this form, rank and reach. To solve a reach takes
    * longer than to do without.
    */
  def probingReader(side: Side, key: KeyForm): SideReader = {
    val plan = sides(side)
    val ranks =
      if (isSolved) Seq(plan.ranks.head, Literal(Long.MinValue), Literal(Long.MaxValue))
      else plan.ranks
    SideReader.create(key, ranks, plan.output)
  }

  /** Of the key, and of the rank in place of a reach. */
  def rankReader(side: Side, key: KeyForm): SideReader =
    SideReader.create(key, Seq.fill(3)(sides(side).ranks.head), sides(side).output)

  /** Of the key alone. */
  def keyReader(side: Side): SideReader =
    SideReader.create(keyForm(side), Nil, sides(side).output)
}
