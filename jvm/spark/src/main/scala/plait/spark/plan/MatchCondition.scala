// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder, Unevaluable}
import org.apache.spark.sql.types.{BooleanType, DataType}

/** How the match values of both sides are compared. */
sealed trait MatchRule
object MatchRule {

  /** By the comparison itself: the nearest row for which it is TRUE. */
  case object Compared extends MatchRule

  /** By their distance, to either side; the comparison only gives both values one type. */
  case object Nearest extends MatchRule

  /** The greatest right value of all; the comparison only says which values those are. */
  case object Newest extends MatchRule
}

/** MATCH_CONDITION as it was written, until the names in it are known: a conjunct of the condition of
  * Spark's own `Join`, which says of no pair whether it matches, but which pairs compete.
  *
  * {{{
  * MATCH_CONDITION (r.ts <= l.ts TOLERANCE INTERVAL 5 SECONDS TIES ORDER BY r.seq)
  *     Compared, r.ts <= l.ts, 5 seconds, (r.seq ASC)
  * }}}
  *
  * [[plait.spark.planner.ResolveAsOfJoin]] makes a [[BestMatch]] of it. It is never evaluated.
  */
final case class MatchCondition(
    rule: MatchRule,
    comparison: Expression,
    tolerance: Option[Expression],
    ties: Seq[SortOrder]
) extends Expression
    with Unevaluable {
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def children: Seq[Expression] = comparison +: (tolerance.toSeq ++ ties)

  override def sql: String = {
    val compared = rule match {
      case MatchRule.Compared => comparison.sql
      case MatchRule.Newest => s"NEWEST (${comparison.children.last.sql})"
      case MatchRule.Nearest => comparison.children.map(_.sql).mkString("NEAREST (", ", ", ")")
    }
    val within = tolerance.map(t => s" TOLERANCE ${t.sql}").mkString
    val tied = if (ties.isEmpty) "" else ties.map(_.sql).mkString(" TIES ORDER BY ", ", ", "")
    s"MATCH_CONDITION ($compared$within$tied)"
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): MatchCondition = {
    val (newTolerance, newTies) = newChildren.tail.splitAt(tolerance.size)
    MatchCondition(
      rule,
      newChildren.head,
      newTolerance.headOption,
      newTies.map(_.asInstanceOf[SortOrder])
    )
  }
}
