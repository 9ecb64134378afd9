// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Coalesce,
  Expression,
  Greatest,
  If,
  Least,
  LessThanOrEqual,
  Literal
}
import org.apache.spark.sql.types.LongType

import plait.order.{CaseReach, Direction, Reach, ReachEnd}

/** Both ends of a [[CaseReach]], as Spark expressions over a row.
  *
  * {{{
  * r.t BETWEEN l.t - 9 AND l.t  OR  l.kind = 1 AND r.t BETWEEN l.u AND l.u + 60
  *   low      least(l.t - 9, if(l.kind = 1, l.u, NULL))           NULL only if all are
  * }}}
  *
  * A case is left out of a row whose own values make it NULL, FALSE or an error, or its reach empty.
  *
  * @param guards
  *   of each case, what it asks of the row alone
  * @param across
  *   of each case, what it asks of both rows
  * @param whereNone
  *   what a row reaches of which no case holds
  */
final case class CaseReachEnds(
    reach: CaseReach,
    guards: Seq[Seq[Expression]],
    across: Seq[Seq[Expression]],
    translation: TermTranslation,
    whereNone: CaseReachEnds.WhereNone
) {

  /** Has each case an end in this direction that depends on the row? One that asks nothing of both rows ends nothing, and
    * whatever else would look at it could not end it; it holds of those rows alone that it asks something of.
    */
  def follows(direction: Direction): Boolean = {
    val following = reach.following(direction)
    following.nonEmpty && reach.cases.indices.forall { i =>
      following.contains(reach.cases(i)) || (guards(i).nonEmpty && across(i).isEmpty)
    }
  }

  /** Is each end that another has there, too? */
  def isAsGoodAs(other: Direction => Boolean): Boolean =
    Direction.both.forall(d => !other(d) || follows(d))

  def low: Expression = hull(ends(_._1), Least(_), Long.MaxValue)
  def high: Expression = hull(ends(_._2), Greatest(_), Long.MinValue)

  private def ends(end: ((Expression, Expression)) => Expression): Seq[Expression] =
    reach.cases.zip(guards).map { case (of, own) =>
      val both = (lowOf(of), highOf(of))
      val isReaching =
        Option.when(of.lower.nonEmpty && of.upper.nonEmpty)(LessThanOrEqual(both._1, both._2))
      // What raises an error is not TRUE of any pair, and must not raise it for rows that have no partner.
      val holds = own.reduceOption[Expression](And(_, _)).map(NullOnError(_))
      (holds ++ isReaching).reduceOption[Expression](And(_, _)).fold(end(both)) {
        If(_, end(both), CaseReachEnds.Nothing)
      }
    }

  private def lowOf(of: Reach) = ReachEndValue.of(ReachEnd.Low, of.lower, translation)
  private def highOf(of: Reach) = ReachEndValue.of(ReachEnd.High, of.upper, translation)

  private def hull(ends: Seq[Expression], all: Seq[Expression] => Expression, none: Long) = {
    val end = if (ends.size == 1) ends.head else all(ends)
    whereNone match {
      case CaseReachEnds.Dead => end
      case CaseReachEnds.NullAlone => Coalesce(Seq(end, Literal(none)))
    }
  }
}

object CaseReachEnds {
  private val Nothing = Literal(null, LongType)

  sealed trait WhereNone

  /** It matches nothing. */
  case object Dead extends WhereNone

  /** It may match rows whose order is NULL, which lie in the reach of every row that is not dead. */
  case object NullAlone extends WhereNone
}
