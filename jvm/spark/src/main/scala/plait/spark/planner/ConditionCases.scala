// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.Literal.{FalseLiteral, TrueLiteral}
import org.apache.spark.sql.catalyst.expressions._

/** The cases of a condition: conjunctions, of which at least one is TRUE wherever the condition is.
  *
  * {{{
  * l.a > r.a AND (l.b = 1 AND l.t < r.t OR r.t IS NULL)        { l.a > r.a, l.b = 1, l.t < r.t }, { l.a > r.a, r.t IS NULL }
  * r.t IN (l.t, l.u)                                           { r.t = l.t }, { r.t = l.u }
  * r.t <=> l.t                                                 { r.t = l.t }, { r.t IS NULL, l.t IS NULL }
  * IF(l.kind = 1, r.t = l.t, r.t = l.u)                        { l.kind = 1, r.t = l.t }, { NOT l.kind = 1 <=> TRUE, r.t = l.u }
  * }}}
  *
  * What is asked of one side alone is not taken apart. Of more than [[ConditionCases.Most]] there is one: the condition itself.
  */
final class ConditionCases(isAcross: Expression => Boolean) extends PredicateHelper {
  import ConditionCases._

  def of(condition: Expression): Seq[Seq[Expression]] =
    upTo(condition).filter(_.nonEmpty).getOrElse(Seq(Seq(condition)))

  /** None if they are too many. */
  private def upTo(condition: Expression): Option[Seq[Seq[Expression]]] = (condition match {
    case FalseLiteral | Literal(null, _) => Some(Nil)
    case own if !isAcross(own) => Some(Seq(splitConjunctivePredicates(own)))
    case And(left, right) =>
      for (l <- upTo(left); r <- upTo(right)) yield for (a <- l; b <- r) yield a ++ b
    case Or(left, right) => for (l <- upTo(left); r <- upTo(right)) yield l ++ r
    case In(value, list) if value.deterministic && list.nonEmpty =>
      Some(list.map(other => Seq(EqualTo(value, other))))
    case EqualNullSafe(a, b) if a.deterministic && b.deterministic =>
      Some(Seq(Seq(EqualTo(a, b)), Seq(IsNull(a), IsNull(b))))
    case If(chosen, value, otherwise) => ofBranches(Seq(chosen -> value), Some(otherwise))
    case CaseWhen(branches, otherwise) => ofBranches(branches, otherwise)
    case other => Some(Seq(Seq(other)))
  }).filter(_.size <= Most)

  /** A branch is taken where none before it is; of both sides' rows that says nothing of one. */
  private def ofBranches(
      branches: Seq[(Expression, Expression)],
      otherwise: Option[Expression]
  ): Option[Seq[Seq[Expression]]] = {
    val isPassed = branches.map { case (chosen, _) => Not(EqualNullSafe(chosen, TrueLiteral)) }
    val all = branches ++ otherwise.map(TrueLiteral -> _)
    val found = all.indices.map { i =>
      val (chosen, value) = all(i)
      for (cs <- upTo(chosen); vs <- upTo(value))
        yield for (c <- cs; v <- vs) yield isPassed.take(i).filterNot(isAcross) ++ c ++ v
    }
    if (found.forall(_.isDefined)) Some(found.flatten.flatten) else None
  }
}

object ConditionCases {
  private val Most = 8
}
