// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._

import plait.Side
import plait.constraint.Term
import plait.constraint.Term.Known
import plait.interval.{Domain, Possible}

/** A whole join condition as one term of the core, for its solver.
  *
  * {{{
  * abs(l.x - r.x) <= 5                   Call(<=, Call(abs, Call(-, l.x, r.x)), 5)
  * l.t < r.t OR my_udf(l.a, r.b)         Call(OR, Call(<, l.t, r.t), ?)
  * }}}
  *
  * Conventions:
  *   1. Total: what is not understood becomes a [[Term.Variable]] if it looks at one side only, and
  *      else `?`, of which nothing is known. An expression is never an error.
  *   2. Each family of expressions has a translation of its own: [[NumberTranslation]],
  *      [[CastTranslation]], [[LogicTranslation]], [[TimeTranslation]], [[UnitTranslation]],
  *      [[WindowTranslation]], [[IntervalTranslation]], [[ElementaryTranslation]].
  *   3. Evaluation modes (ANSI, legacy, TRY) are read off each expression, never off the session.
  *
  * @param leaves
  *   where terms end
  */
final class ConditionTranslation(leaves: Leaves) {
  private val families: Seq[PartialFunction[Expression, Term]] = Seq(
    new LogicTranslation(term).translate,
    new WindowTranslation(term).translate,
    new IntervalTranslation(term).translate,
    new NumberTranslation(term).translate,
    new CastTranslation(term).translate,
    new TimeTranslation(term).translate,
    new UnitTranslation(term).translate,
    new ElementaryTranslation(term).translate
  )
  private val known = mutable.LinkedHashMap.empty[Expression, Term]
  private val spelled = new SpelledById
  private val sources = mutable.Map.empty[Term, Expression]

  def term(expression: Expression): Term =
    // Two calls of what is not deterministic give two values.
    if (!expression.deterministic) sourced(expression)
    else known.getOrElseUpdate(spelled(expression), sourced(expression))

  private def sourced(expression: Expression): Term = {
    val term = translated(expression)
    sources.getOrElseUpdate(term, expression)
    term
  }

  /** The expression that a term came from. */
  def source(term: Term): Option[Expression] = sources.get(term)

  /** The largest terms over one side alone that came from an expression. */
  def oneSided(condition: Term, side: Side): Seq[Term] =
    condition.largestOver(side)(sources.contains)

  private def translated(expression: Expression): Term = expression match {
    case literal: Literal => ConditionTranslation.literal(literal)
    case foldable if foldable.foldable && foldable.deterministic && !computesOtherwise(foldable) =>
      scala.util
        .Try(Literal(foldable.eval(), foldable.dataType))
        .toOption
        .fold[Term](leaves.opaque(expression))(ConditionTranslation.literal)
    case _ =>
      families
        .collectFirst(Function.unlift(family => family.lift(expression)))
        .orElse(leaves.leaf(expression))
        .getOrElse(leaves.opaque(expression))
  }

  /** The code that Spark generates gives something else than its interpreter. */
  private def computesOtherwise(foldable: Expression) =
    foldable.exists(TimeTranslation.isTriedDate)
}

object ConditionTranslation {
  private def literal(literal: Literal): Term = {
    val dataType = literal.dataType
    OrderedType.domain(dataType) match {
      case None =>
        val possible = if (literal.value == null) Possible.JustNull else Possible.Anything
        Known(possible, Domain.Real, literal.sql)
      case Some(domain) =>
        val possible = OrderedType.possible(literal.value, dataType)
        Known(possible, domain, literal.sql)
    }
  }
}
