// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  GreaterThan,
  GreaterThanOrEqual,
  LessThan,
  LessThanOrEqual,
  SortOrder,
  Unevaluable
}
import org.apache.spark.sql.types.{BooleanType, DataType}

import plait.BySide

/** Where the best row of the right side lies, as seen from the left match value. */
sealed abstract class MatchDirection(val comparison: String)
object MatchDirection {
  case object AtOrBefore extends MatchDirection(">=")
  case object Before extends MatchDirection(">")
  case object AtOrAfter extends MatchDirection("<=")
  case object After extends MatchDirection("<")

  /** To either side, as near as can be; of two as near, before. */
  case object Nearest extends MatchDirection("NEAREST")
}

/** Which right row a left row picks of those of its key.
  *
  * {{{
  * left l.ts, right r.ts, AtOrBefore            the row with the greatest r.ts <= l.ts
  *   l.ts 10:07    r.ts 10:01 10:05 10:09       10:05
  *   tolerance 1 minute                         none
  * }}}
  *
  * Conventions:
  *   1. NULL match values pick nothing and are not picked.
  *   2. Among equal match values the last row by `ties` is picked; those of the user come first, then
  *      all columns of the right side that have an order.
  *   3. The tolerance is closed: values exactly that far apart still match.
  *
  * @param within
  *   whether a pair is near enough; TRUE for all between the left value and any one for which it is
  * @param distance
  *   how far apart that is at most, for people
  */
final case class BestMatch(
    direction: MatchDirection,
    left: Expression,
    right: Expression,
    within: Option[Expression],
    distance: Option[String],
    ties: Seq[SortOrder]
) extends Expression
    with Unevaluable {
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def children: Seq[Expression] = left +: right +: (within.toSeq ++ ties)

  /** The comparison of the match values; where the nearest is wanted, none rules a pair out. */
  def compared: Option[Expression] = direction match {
    case MatchDirection.AtOrBefore => Some(GreaterThanOrEqual(left, right))
    case MatchDirection.Before => Some(GreaterThan(left, right))
    case MatchDirection.AtOrAfter => Some(LessThanOrEqual(left, right))
    case MatchDirection.After => Some(LessThan(left, right))
    case MatchDirection.Nearest => None
  }

  override def sql: String = {
    val compared = direction match {
      case MatchDirection.Nearest => s"NEAREST (${left.sql}, ${right.sql})"
      case _ => s"${left.sql} ${direction.comparison} ${right.sql}"
    }
    compared + distance.map(d => s" TOLERANCE $d").mkString
  }

  /** With which values of the other side a row of each side can match:
    * {{{
    * l.ts >= r.ts TOLERANCE 5          left r.ts in [l.ts - 5, l.ts]          right l.ts in [r.ts, r.ts + 5]
    * }}}
    */
  def reaches: BySide[String] = {
    import MatchDirection._
    def from(value: Expression) = distance.fold("(-inf")(d => s"[${value.sql} - $d")
    def to(value: Expression) = distance.fold("+inf)")(d => s"${value.sql} + $d]")
    val (l, r) = (left.sql, right.sql)
    val (ofLeft, ofRight) = direction match {
      case AtOrBefore => (s"${from(left)}, $l]", s"[$r, ${to(right)}")
      case Before => (s"${from(left)}, $l)", s"($r, ${to(right)}")
      case AtOrAfter => (s"[$l, ${to(left)}", s"${from(right)}, $r]")
      case After => (s"($l, ${to(left)}", s"${from(right)}, $r)")
      case Nearest => (s"${from(left)}, ${to(left)}", s"${from(right)}, ${to(right)}")
    }
    BySide(s"$r in $ofLeft", s"$l in $ofRight")
  }

  override def toString: String = sql

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): BestMatch = {
    val (newWithin, newTies) = newChildren.drop(2).splitAt(within.size)
    BestMatch(
      direction,
      newChildren(0),
      newChildren(1),
      newWithin.headOption,
      distance,
      newTies.map(_.asInstanceOf[SortOrder])
    )
  }
}
