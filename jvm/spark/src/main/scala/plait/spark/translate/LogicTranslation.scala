// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types.{DoubleType, FloatType}

import plait.constraint.Logic.Is
import plait.constraint.Term.Call
import plait.constraint.{Choice, Compared, Comparison, Logic, NullSafeEqual, Term}
import plait.interval.{Domain, Specials}

/** Comparisons, the three truth values, and the choices between values.
  *
  * {{{
  * l.a < r.b                         Call(<, l.a, r.b)
  * CASE WHEN p THEN x ELSE y END     Call(IF, p, x, y)
  * l.a IN (1, 2, NULL)               Call(IN (1, 2, NULL), l.a)
  * }}}
  */
final private[translate] class LogicTranslation(of: Spark => Term) {

  def translate: PartialFunction[Spark, Term] = {
    case LessThan(l, r) if isOrdered(l) => compared(Comparison.Less, l, r)
    case LessThanOrEqual(l, r) if isOrdered(l) => compared(Comparison.AtMost, l, r)
    case GreaterThan(l, r) if isOrdered(l) => compared(Comparison.Greater, l, r)
    case GreaterThanOrEqual(l, r) if isOrdered(l) => compared(Comparison.AtLeast, l, r)
    case EqualTo(l, r) if isOrdered(l) => compared(Comparison.Equal, l, r)
    case EqualNullSafe(l, r) if isOrdered(l) => Call(NullSafeEqual, of(l), of(r))
    case and: And => junction(Logic.And, conjuncts(and))
    case or: Or => junction(Logic.Or, disjuncts(or))
    case Not(child) => Call(Logic.Not, of(child))
    case IsNull(child) => Call(Is(Specials.Null), of(child))
    case IsNotNull(child) => Call(Logic.Not, Call(Is(Specials.Null), of(child)))
    case IsNaN(child) => Call(Is(Specials.NaN), of(child))
    case In(value, list) if isOrdered(value) && list.nonEmpty => in(value, list)
    case InSet(value, set) if isOrdered(value) && set.nonEmpty && isDecided(value, set) =>
      in(value, set.toSeq.map(Literal(_, value.dataType)))
    case e @ If(condition, yes, no) if domain(e).isDefined =>
      choice(e, condition, of(yes), of(no))
    case e @ CaseWhen(branches, otherwise) if domain(e).isDefined =>
      val last = of(otherwise.getOrElse(Literal(null, e.dataType)))
      branches.foldRight(last) { case ((condition, value), rest) =>
        choice(e, condition, of(value), rest)
      }
    case c @ Coalesce(children) if domain(c).isDefined =>
      children.map(of).reduceRight[Term]((a, b) => Call(Choice.Coalesce(domain(c).get), a, b))
    case l @ Least(children) if domain(l).isDefined =>
      children.map(of).reduceLeft[Term]((a, b) => Call(Choice.Least(domain(l).get), a, b))
    case g @ Greatest(children) if domain(g).isDefined =>
      children.map(of).reduceLeft[Term]((a, b) => Call(Choice.Greatest(domain(g).get), a, b))
    case replaced: RuntimeReplaceable => of(replaced.replacement)
    case With(child, definitions) => of(inlined(child, definitions))
    case tagged: TaggingExpression => of(tagged.child)
  }

  private def domain(expression: Spark): Option[Domain] = OrderedType.domain(expression.dataType)

  /** As BETWEEN is, before the optimizer has seen it. */
  private def inlined(child: Spark, definitions: Seq[CommonExpressionDef]): Spark =
    child.transform { case ref: CommonExpressionRef =>
      definitions.find(_.id == ref.id).fold[Spark](ref)(_.child)
    }

  /** Of NaN and a set with a NULL Spark's generated code says NULL, its interpreter FALSE. */
  private def isDecided(value: Spark, set: Set[Any]): Boolean = value.dataType match {
    case DoubleType | FloatType => !set.contains(null)
    case _ => true
  }

  private def isOrdered(expression: Spark): Boolean = domain(expression).isDefined

  private def compared(op: Comparison, l: Spark, r: Spark): Term =
    Call(Compared(op), of(l), of(r))

  /** The branches may be of narrower types, as a cast that keeps the value is no term of its own. */
  private def choice(e: Spark, condition: Spark, yes: Term, no: Term): Term =
    Call(Choice.If(domain(e).get), of(condition), yes, no)

  private def junction(operation: Logic.Junction, parts: Seq[Spark]): Term =
    Call(operation, parts.map(of): _*)

  private def conjuncts(e: Spark): Seq[Spark] = e match {
    case And(l, r) => conjuncts(l) ++ conjuncts(r)
    case other => Seq(other)
  }

  private def disjuncts(e: Spark): Seq[Spark] = e match {
    case Or(l, r) => disjuncts(l) ++ disjuncts(r)
    case other => Seq(other)
  }

  private def in(value: Spark, list: Seq[Spark]): Term = {
    val literals = list.collect { case Literal(x, dataType) => x -> dataType }
    val numbers = literals.flatMap { case (x, dataType) => OrderedType.number(x, dataType) }
    val nulls = literals.count(_._1 == null)
    // NaN in a list has no number: such a list is as many equalities.
    if (numbers.size + nulls == list.size)
      Call(Logic.In(numbers.toVector, if (nulls > 0) Specials.Null else Specials.None), of(value))
    else
      junction(Logic.Or, list.map(EqualTo(value, _)))
  }
}
