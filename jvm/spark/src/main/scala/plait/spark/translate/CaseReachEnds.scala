// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  Coalesce,
  Expression,
  Greatest,
  If,
  Least,
  Literal,
  PlanExpression,
  Unevaluable
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
  * A case whose own values make it NULL or FALSE reaches nothing, and is left out.
  *
  * @param guards
  *   of each case, what it asks of the row alone
  * @param whereNone
  *   what a row reaches of which no case holds
  */
final case class CaseReachEnds(
    reach: CaseReach,
    guards: Seq[Seq[Expression]],
    translation: TermTranslation,
    whereNone: CaseReachEnds.WhereNone
) {

  /** Has each case an end in this direction that depends on the row, but for those that are left out of some rows? */
  def follows(direction: Direction): Boolean = {
    val following = reach.following(direction)
    following.nonEmpty && reach.cases.zip(guards).forall { case (of, own) =>
      own.nonEmpty || following.contains(of)
    }
  }

  /** Is each end that another has there, too? */
  def isAsGoodAs(other: Direction => Boolean): Boolean =
    Seq(Direction.Ascending, Direction.Descending).forall(d => !other(d) || follows(d))

  def low: Expression =
    hull(ends(r => ReachEndValue.of(ReachEnd.Low, r.lower, translation)), Least(_), Long.MaxValue)

  def high: Expression =
    hull(
      ends(r => ReachEndValue.of(ReachEnd.High, r.upper, translation)),
      Greatest(_),
      Long.MinValue
    )

  private def ends(end: Reach => Expression): Seq[Expression] =
    reach.cases.zip(guards).map { case (of, own) =>
      own.reduceOption(And(_, _)).fold(end(of))(If(_, end(of), CaseReachEnds.Nothing))
    }

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

  /** What may stand before the computing of an end: it raises no error, and can be evaluated anywhere. */
  def isGuard(own: AttributeSet)(conjunct: Expression): Boolean =
    conjunct.references.nonEmpty && conjunct.references.subsetOf(own) && conjunct.deterministic &&
      !conjunct.throwable && !conjunct.exists {
        case _: Attribute => false
        case e => e.isInstanceOf[Unevaluable] || e.isInstanceOf[PlanExpression[_]]
      }
}
