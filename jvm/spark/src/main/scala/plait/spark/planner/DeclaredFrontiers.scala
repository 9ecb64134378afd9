// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import plait.BySide
import plait.constraint.Solver
import plait.order.{Direction, FollowingRank, Order}
import plait.spark.plan.OrderedBy
import plait.spark.stream.{DeclaredFrontier, DeclaredRank, OrderedRows}
import plait.spark.translate.{ConditionTranslation, OrderValue, OrderedType, TermTranslation}

/** What a declared order of a stream says of the values of an expression over its rows.
  *
  * {{{
  * ORDERED(l, seq, 100), greatest seq 500       later rows have seq >= 400, floor(seq / 10) >= 40, ...
  * ORDERED(l, (a + b))                          an expression is looked at as a whole
  * ORDERED(l, 'price DESC')                     later rows have price <= p, so -price >= -p
  * }}}
  */
object DeclaredFrontiers {

  /** How the least rank of an order of `plan`'s rows follows from an order declared below, if it does. */
  def of(order: Expression, direction: Direction, plan: LogicalPlan): Option[DeclaredFrontier] =
    declaredBelow(order, plan).flatMap { case (seen, ordered) =>
      val claim = OrderedRows(ordered.order, ordered.frontier, ordered.relation)
      ranks(seen, direction, ordered).map(DeclaredFrontier(claim, order, direction, _))
    }.headOption

  /** The orders declared of the relation that an expression comes from, each with the expression over the
    * columns there.
    */
  private def declaredBelow(
      expression: Expression,
      plan: LogicalPlan
  ): Seq[(Expression, OrderedBy)] = {
    val here = plan match {
      case ordered: OrderedBy => Seq((expression, ordered))
      case _ => Nil
    }
    here ++ Lineage.below(expression, plan).toSeq.flatMap { case (seen, child) =>
      declaredBelow(seen, child)
    }
  }

  /** The rank of a row's frontier along its declared order, as one of the order's own type; None where
    * values have no ranks.
    */
  def rankOf(ordered: OrderedBy): Option[Expression] = {
    val value = ordered.order.child
    val isDescending = ordered.order.direction == Descending
    Option.when(hasRanks(value)) {
      val rank = OrderValue(ordered.frontier.fold(value)(within(_, value.dataType)))
      if (isDescending) BitwiseNot(rank) else rank
    }
  }

  private def hasRanks(value: Expression) =
    OrderValue.exists(value.dataType) && OrderedType.domain(value.dataType).isDefined

  /** Rounded down; a later row that lies between is taken, and a frontier beyond the type is none. */
  private def within(frontier: Expression, dataType: DataType): Expression =
    (frontier.dataType, dataType) match {
      case (from, to) if from == to => frontier
      // A float has the rank of the double that it is.
      case (DoubleType, FloatType) => frontier
      case (_: DayTimeIntervalType, _: DayTimeIntervalType) => frontier
      case (_: YearMonthIntervalType, _: YearMonthIntervalType) => frontier
      case (_: DecimalType | FloatType | DoubleType, OrderedType.Integers()) =>
        cast(Floor(frontier), dataType)
      case (from: DecimalType, to: DecimalType) if from.scale > to.scale =>
        cast(RoundFloor(frontier, Literal(to.scale)), to)
      case _ => cast(frontier, dataType)
    }

  private def cast(e: Expression, to: DataType): Expression =
    Cast(e, to, Some(org.apache.spark.sql.internal.SQLConf.get.sessionLocalTimeZone), EvalMode.TRY)

  private def ranks(
      order: Expression,
      direction: Direction,
      ordered: OrderedBy
  ): Option[DeclaredRank] = {
    val declared = ordered.order.child
    val declaredDirection =
      if (ordered.order.direction == Descending) Direction.Descending else Direction.Ascending
    if (!hasRanks(declared)) None
    else if (order.semanticEquals(declared))
      Option.when(direction eq declaredDirection)(Itself)
    else
      Some(new Solved(order, direction, declared, declaredDirection))
        .filter(rank => !rank.mayHaveValueWithoutIt && FollowingRank.rises(rank.rankFrom))
  }

  private object Itself extends DeclaredRank {
    def rankFrom(seen: Long): Long = seen
  }

  /** Of what follows from the declared order, or what it follows from: `seq` from `seq + 5`. */
  final private class Solved(
      order: Expression,
      direction: Direction,
      declared: Expression,
      declaredDirection: Direction
  ) extends DeclaredRank {
    private val translation = new ConditionTranslation(
      new TermTranslation(BySide(order.references ++ declared.references, AttributeSet.empty))
    )
    private val ordered = translation.term(order)
    private val claimed = translation.term(declared)
    private val following = new FollowingRank(
      translation.term(IsNotNull(declared)),
      Order(claimed, declaredDirection),
      Order(ordered, direction)
    )

    /** Rows whose declared order is NULL may come at any time. */
    def mayHaveValueWithoutIt: Boolean = {
      val without = new Solver(translation.term(IsNull(declared)), Seq(claimed, ordered))
      val state = without.initial
      without.narrow(state) && !state(without.index(ordered)).values.isEmpty
    }

    def rankFrom(seen: Long): Long = following(seen)
  }
}
