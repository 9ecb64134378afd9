// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  BitwiseNot,
  Coalesce,
  Descending,
  Expression,
  Literal,
  NullsFirst,
  SortOrder
}

import plait.Side
import plait.join.Rankless
import plait.order.{Direction, Order, OrderChoice, ReachEnd, SolvedChoice}

/** What the join computes for each row of a side, as Spark expressions over its columns.
  *
  * {{{
  * condition l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10, left side
  *   order   s ASC
  *   rank    orderValue(s)
  *   low     after(addDown(-7, orderValue(s)))       s - 6
  *   high    before(addUp(-4, orderValue(s)))        s - 5
  * }}}
  *
  * @param order
  *   how the side must be sorted, None if it may come as it likes
  * @param rank
  *   the row's own rank, NULL if its order value is, unless such a row may match
  * @param low
  *   the low end of its reach in the other side's ranks, closed, NULL if it reaches nothing
  * @param high
  *   the high end
  * @param rankless
  *   what becomes of its rows whose order is NULL; where they may match, they must come first
  */
final case class SideExpressions(
    order: Option[SortOrder],
    rank: Expression,
    low: Expression,
    high: Expression,
    rankless: Rankless = Rankless.Dead
) {
  def ranks: Seq[Expression] = Seq(rank, low, high)
}

object SideExpressions {

  /** Nothing prunes: all rows have one rank and reach all. */
  val unpruned: SideExpressions =
    SideExpressions(None, Literal(0L), Literal(Long.MinValue), Literal(Long.MaxValue))

  /** The same where the reach is solved for each row. */
  def solved(
      side: Side,
      choice: SolvedChoice,
      translation: ConditionTranslation
  ): SideExpressions =
    within(side, choice, translation, SolvedReachValue.ends(choice.reaches(side), translation))

  /** And where the cases of the condition give it. */
  def byCases(
      side: Side,
      choice: SolvedChoice,
      translation: ConditionTranslation,
      ends: CaseReachEnds
  ): SideExpressions = within(side, choice, translation, (ends.low, ends.high))

  /** @param ends
    *   low and high end of the reach
    */
  private def within(
      side: Side,
      choice: SolvedChoice,
      translation: ConditionTranslation,
      ends: (Expression, Expression)
  ): SideExpressions = {
    val own = choice.orders(side)
    val value = NullOnError.unlessColumn(translation.source(own.term).get)
    val (low, high) = ends
    val sorted = SortOrder(value, sortDirection(own))
    val dead = along(choice.orders(side.other), sorted, rank(own, value), low, high)
    if (choice.mayMatchNull(side)) ranklessFirst(dead) else dead
  }

  /** Rows without an order value come first, with a rank of their own. */
  private def ranklessFirst(side: SideExpressions): SideExpressions = side.copy(
    order = side.order.map(o => SortOrder(o.child, o.direction, NullsFirst, Nil)),
    rank = Coalesce(Seq(side.rank, Literal(Rankless.Rank))),
    rankless = Rankless.Matching
  )

  def of(side: Side, choice: OrderChoice, translation: TermTranslation): SideExpressions = {
    val own = choice.orders(side)
    val value = NullOnError.unlessColumn(translation.source(own.term))
    val sorted = SortOrder(value, sortDirection(own))
    val reach = choice.reaches(side)
    val low = ReachEndValue.of(ReachEnd.Low, reach.lower, translation)
    val high = ReachEndValue.of(ReachEnd.High, reach.upper, translation)
    along(choice.orders(side.other), sorted, rank(own, value), low, high)
  }

  /** The ends of the narrow ones while the files stand, else those of the wide ones. What makes rows without an
    * order value come first must not hang on files.
    */
  def whileFilesStand(
      narrow: SideExpressions,
      wide: SideExpressions,
      files: Seq[FilesSeen]
  ): SideExpressions =
    if (files.isEmpty || narrow.rankless != wide.rankless) wide
    else
      wide.copy(
        low = WhileFilesStand.of(narrow.low, wide.low, files),
        high = WhileFilesStand.of(narrow.high, wide.high, files)
      )

  /** Ranks along a descending order are complements, which swap the ends. */
  private def along(
      other: Order,
      sorted: SortOrder,
      rank: Expression,
      low: Expression,
      high: Expression
  ): SideExpressions =
    if (other.direction == Direction.Ascending) SideExpressions(Some(sorted), rank, low, high)
    else SideExpressions(Some(sorted), rank, BitwiseNot(high), BitwiseNot(low))

  private def rank(order: Order, value: Expression): Expression =
    if (order.direction == Direction.Ascending) OrderValue(value)
    else BitwiseNot(OrderValue(value))

  private def sortDirection(order: Order) =
    if (order.direction == Direction.Ascending) Ascending else Descending
}
