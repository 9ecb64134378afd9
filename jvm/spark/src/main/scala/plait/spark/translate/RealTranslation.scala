// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types.NumericType

import plait.Side
import plait.constraint.Term.{Call, Known, Opaque, Variable}
import plait.constraint._
import plait.interval.FieldOperation.{Divide => Divided, _}
import plait.interval.{
  Domain,
  MathLibrary,
  Possible,
  Power,
  Rational,
  RealOperation,
  Specials,
  StepOperation
}

/** A condition as Spark's parser reads it, over real numbers without types: exact arithmetic, no NULL,
  * no overflow.
  *
  * {{{
  * pow(x, 2) + y = 4          Call(=, Call(+, Call(power 2, x), y), 4)
  * a / b > 1                  Call(>, Call(/, a, b), 1)          no value for b = 0
  * a > 0.1                    0.1 is 1/10; 1e-1 is the double 0.1
  * }}}
  *
  * Conventions:
  *   1. Nothing is guessed: what Spark knows and real numbers do not is unknown, and narrows nothing;
  *      what is no condition, or no number, or names no function, is an error that names its place.
  *   2. What is undefined (`1 / 0`, `sqrt(-1)`) has no value, and a condition without a value is not
  *      TRUE.
  *   3. There is no NULL and no NaN but in what is unknown: `x IS NULL` is FALSE, `coalesce(x, y)` x.
  *   4. `x * x` is the square, as `pow(x, 2)` is: of one x, not of two.
  *
  * @param variable
  *   what a name stands for
  * @param isFunction
  *   does Spark know a function of this name?
  */
final class RealTranslation(
    variable: Seq[String] => Variable,
    isFunction: Seq[String] => Boolean
) {
  import RealTranslation._

  private var unknowns = 0

  def truth(e: Spark): Term = e match {
    case And(l, r) => Call(Logic.And, truth(l), truth(r))
    case Or(l, r) => Call(Logic.Or, truth(l), truth(r))
    case Not(child) => Call(Logic.Not, truth(child))
    case LessThan(l, r) => compared(Comparison.Less, l, r)
    case LessThanOrEqual(l, r) => compared(Comparison.AtMost, l, r)
    case GreaterThan(l, r) => compared(Comparison.Greater, l, r)
    case GreaterThanOrEqual(l, r) => compared(Comparison.AtLeast, l, r)
    case EqualTo(l, r) if isTruth(l) && isTruth(r) => same(l, r)
    case EqualNullSafe(l, r) if isTruth(l) && isTruth(r) => same(l, r)
    case EqualTo(l, r) => compared(Comparison.Equal, l, r)
    case EqualNullSafe(l, r) => compared(Comparison.Equal, l, r)
    case Between(x, low, high, _) => between(x, low, high)
    case Named("between", Seq(x, low, high)) => between(x, low, high)
    case In(x, list) if list.nonEmpty => in(x, list)
    case Literal(x: Boolean, _) =>
      Known(if (x) Possible.True else Possible.False, Domain.Boolean, e.sql)
    case IsNull(c) => is(Specials.Null, c)
    case IsNotNull(c) => Call(Logic.Not, is(Specials.Null, c))
    case Named("isnull", Seq(c)) => is(Specials.Null, c)
    case Named("isnotnull", Seq(c)) => Call(Logic.Not, is(Specials.Null, c))
    case Named("isnan", Seq(c)) => is(Specials.NaN, c)
    case other if isNumber(other) || isNowhere(other) =>
      refuse(other, "is no condition on real numbers")
    case _ => unknown(Domain.Boolean)
  }

  def number(e: Spark): Term = e match {
    case UnresolvedAttribute(name) => variable(name)
    case Literal(x: Any, dataType: NumericType) =>
      exactly(OrderedType.number(x, dataType).get, e.sql)
    case _: Add | _: Subtract => LinearForm.collected(summed(e))
    // Of the same numbers only: of a function that is not known each call may be another one.
    case Multiply(l, r, _) =>
      val (a, b) = (number(l), number(r))
      if (a == b) Call(real(Power.Whole(2)), a) else Call(real(Times), a, b)
    case Divide(l, r, _) => call(Divided, l, r)
    case IntegralDivide(l, r, _) => call(StepOperation.Quotient, l, r)
    case Remainder(l, r, _) => call(StepOperation.Remainder, l, r)
    case UnaryMinus(c, _) => call(Negate, c)
    case UnaryPositive(c) => number(c)
    case CaseWhen(branches, Some(otherwise)) =>
      branches.foldRight(number(otherwise)) { case ((condition, value), rest) =>
        Call(Choice.If(Domain.Real), truth(condition), number(value), rest)
      }
    case Named("if", Seq(condition, yes, no)) =>
      Call(Choice.If(Domain.Real), truth(condition), number(yes), number(no))
    case Named("least", list) if list.size > 1 =>
      list.map(number).reduceLeft[Term](Call(Choice.Least(Domain.Real), _, _))
    case Named("greatest", list) if list.size > 1 =>
      list.map(number).reduceLeft[Term](Call(Choice.Greatest(Domain.Real), _, _))
    case Named("pow" | "power", Seq(x, Exponent(n))) => power(x, n)
    case Named("pow" | "power", Seq(x, Root(n, degree))) =>
      val root = call(Power.Root(degree), x)
      if (n > 1) Call(real(Power.Whole(n)), root) else root
    case Named("log", Seq(Exponent(2), x)) => call(functions("log2"), x)
    case Named("log", Seq(Exponent(10), x)) => call(functions("log10"), x)
    case Named("log", Seq(base, x)) =>
      Call(real(Divided), call(functions("ln"), x), call(functions("ln"), base))
    case Named("round", Rounded(x, unit)) =>
      call(StepOperation.Nearest(unit, StepOperation.Middle.AwayFromZero), x)
    case Named("bround", Rounded(x, unit)) =>
      call(StepOperation.Nearest(unit, StepOperation.Middle.ToEven), x)
    case Named("floor", Rounded(x, unit)) => call(StepOperation.Floor(unit), x)
    case Named("ceil" | "ceiling", Rounded(x, unit)) => call(StepOperation.Ceiling(unit), x)
    case Named("coalesce" | "nvl" | "ifnull", list) if list.nonEmpty =>
      list.map(number).reduceRight[Term](Call(Choice.Coalesce(Domain.Real), _, _))
    case Named("mod", Seq(l, r)) => call(StepOperation.Remainder, l, r)
    case Named("pmod", Seq(l, r)) => call(StepOperation.PositiveModulus, l, r)
    case Named(name, Seq(x)) if functions.contains(name) => call(functions(name), x)
    case xor: BitwiseXor => refuse(xor, "is an exclusive OR of bits; a power is pow(x, 2)")
    case other if isNowhere(other) => refuse(other, "is nothing that Spark could compute here")
    case other if isForeign(other) => refuse(other, Meaningless)
    case _ => unknown(Domain.Real)
  }

  /** As it is written: of a sum of sums the whole is collected, once. */
  private def summed(e: Spark): Term = e match {
    case Add(l, r, _) => Call(real(Plus), summed(l), summed(r))
    case Subtract(l, r, _) => Call(real(Minus), summed(l), summed(r))
    case other => number(other)
  }

  private def is(special: Specials, c: Spark): Term = Call(Logic.Is(special), number(c))

  /** Convention 1. Two of them are two terms, as two calls of one function may differ. */
  private def unknown(domain: Domain): Term = {
    unknowns += 1
    val possible = if (domain eq Domain.Real) Possible.Anything else domain.all
    Opaque(s"?$unknowns", Set(Side.Left), domain, possible)
  }

  private def isNumber(e: Spark): Boolean = e match {
    case _: BinaryArithmetic | _: UnaryMinus | _: UnaryPositive => true
    case _: Literal | _: UnresolvedAttribute => true
    case Named(name, _) => functions.contains(name)
    case _ => false
  }

  private def isTruth(e: Spark): Boolean = e match {
    case _: And | _: Or | _: Not | _: BinaryComparison | _: Between | _: In => true
    case Literal(_: Boolean, _) => true
    case _ => false
  }

  private def same(l: Spark, r: Spark): Term = {
    val (a, b) = (truth(l), truth(r))
    Call(Logic.Or, Call(Logic.And, a, b), Call(Logic.And, Call(Logic.Not, a), Call(Logic.Not, b)))
  }

  /** A text, a date, a time, an interval, a truth value where a number is wanted. */
  private def isForeign(e: Spark): Boolean = e match {
    case Literal(x, dataType) => x != null && !dataType.isInstanceOf[NumericType]
    case _ => false
  }

  /** What not even Spark could say here. */
  private def isNowhere(e: Spark): Boolean = e.exists {
    case _: PlanExpression[_] => true
    case f: UnresolvedFunction => !isFunction(f.nameParts)
    case _ => false
  }

  /** What stands on both sides is brought to one. */
  private def compared(op: Comparison, l: Spark, r: Spark): Term = {
    val (left, right) = (number(l), number(r))
    val difference = LinearForm.of(left) - LinearForm.of(right)
    if (difference.hasOneTwice)
      Call(Compared(op), difference.sum, LinearForm.known(-difference.constant))
    else Call(Compared(op), left, right)
  }

  private def between(x: Spark, low: Spark, high: Spark): Term = Call(
    Logic.And,
    compared(Comparison.AtLeast, x, low),
    compared(Comparison.AtMost, x, high)
  )

  private def in(x: Spark, list: Seq[Spark]): Term = {
    val members = list.map(number)
    val points = members.collect { case Known(possible, _, _) => possible.values.single }.flatten
    if (points.size == list.size) Call(Logic.In(points.toVector, Specials.None), number(x))
    else
      members
        .map[Term](Call(Compared(Comparison.Equal), number(x), _))
        .reduceLeft(Call(Logic.Or, _, _))
  }

  private def power(x: Spark, n: Int): Term = n match {
    case 0 => exactly(Rational.One, "1")
    case 1 => number(x)
    case _ if n < 0 =>
      Call(real(Divided), exactly(Rational.One, "1"), power(x, -n))
    case _ => call(Power.Whole(n), x)
  }

  private def call(operation: RealOperation, arguments: Spark*): Term =
    Call(real(operation), arguments.map(number): _*)

  private def exactly(x: Rational, text: String): Term =
    Known(Possible.only(x), Domain.Real, text)
}

object RealTranslation {

  private val Meaningless = "has no meaning for real numbers here"

  private def real(operation: RealOperation): Arithmetic =
    Arithmetic(operation, Domain.Real, Domain.Real, Overflow.Fails)

  /** Roots are exact where they are rational, which those of doubles need not be. */
  private val functions: Map[String, RealOperation] = {
    val library = MathLibrary.all.map(f => f.name -> f).toMap[String, RealOperation]
    library ++ Map(
      "sqrt" -> Power.Root(2),
      "cbrt" -> Power.Root(3),
      "log" -> library("ln"),
      "abs" -> Absolute,
      "sign" -> Sign,
      "signum" -> Sign,
      "negative" -> Negate
    )
  }

  private object Named {
    def unapply(e: Spark): Option[(String, Seq[Spark])] = e match {
      case f: UnresolvedFunction if f.nameParts.size == 1 && !f.isDistinct && f.filter.isEmpty =>
        Some(f.nameParts.head.toLowerCase(Locale.ROOT) -> f.arguments)
      case _ => None
    }
  }

  /** `x` alone, or with how many digits after the point are kept: in multiples of what? */
  private object Rounded {
    def unapply(arguments: Seq[Spark]): Option[(Spark, Rational)] = arguments match {
      case Seq(x) => Some(x -> Rational.One)
      case Seq(x, Exponent(scale)) => Some(x -> Rational.scaled(1, scale))
      case _ => None
    }
  }

  /** A positive fraction as an exponent: a power and the degree of a root. */
  private object Root {
    def unapply(e: Spark): Option[(Int, Int)] = e match {
      case Literal(x: Any, dataType) =>
        OrderedType
          .number(x, dataType)
          .filter(q => q.signum > 0 && !q.isWhole)
          .map(q => q.numerator -> q.denominator)
          .collect { case (n, d) if n.max(d) <= Power.Greatest => (n.toInt, d.toInt) }
      case _ => None
    }
  }

  private object Exponent {
    def unapply(e: Spark): Option[Int] = e match {
      case UnaryMinus(Exponent(n), _) => Some(-n)
      case Literal(x: Any, dataType) =>
        OrderedType
          .number(x, dataType)
          .filter(n => n.isWhole && n.abs <= Rational(Power.Greatest))
          .map(_.numerator.toInt)
      case _ => None
    }
  }

  private def refuse(e: Spark, why: String): Nothing = {
    val place = e.origin.startIndex.fold("")(at => s" at position ${at + 1}")
    throw new ConditionError(
      s"${e.sql}$place $why. Where Spark's types are named, as in types={'a': 'int', 't': 'date'}, every " +
        "expression means what it means to Spark."
    )
  }
}

/** What is wrong with a condition, in one sentence. */
final class ConditionError(message: String) extends IllegalArgumentException(message)
