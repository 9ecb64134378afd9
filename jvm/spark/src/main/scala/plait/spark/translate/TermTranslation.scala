// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types._

import plait.constraint.Term.{Add => AddTerm, Subtract => SubtractTerm, _}
import plait.constraint.{Compare, Comparison, Sweeps, Term}
import plait.interval.Ends.Numbers
import plait.interval.Interval
import plait.{BySide, Side}

/** Spark's comparisons as the core's, and the core's terms back as Spark's expressions.
  *
  * {{{
  * (l.s + 3) < (r.s + 10)                        Compare(Less, Add(l.s, 3), Add(r.s, 10))
  * 2 * (l.a - r.b) <= 10                         Compare(AtMost, Scale(Subtract(l.a, r.b), 2), 10)
  * l.d + 3 <= r.d         (date_add may wrap)    Compare(AtMost, Variable("date_add(d, 3)"), r.d)
  * l.ts - r.ts <= INTERVAL 5 MINUTES             Compare(AtMost, Subtract(clock(l.ts), clock(r.ts)), 300000000)
  * l.price < r.price      (double)               Compare(Less, l.price, r.price)
  * l.price - r.price < 1D                        Compare(Less, Call(- of double, l.price, r.price), 1)
  * l.price + 1 < r.price  (double)               Compare(Less, Variable("price + 1"), r.price)
  * }}}
  *
  * Conventions:
  *   1. Arithmetic becomes a node only where its result is exact or missing: ANSI and TRY mode,
  *      intervals in every mode, legacy mode where no wrap is possible for the types at hand.
  *   2. `TIMESTAMP + interval` is wall-clock arithmetic in a zone with daylight saving time. It is a
  *      node for TIMESTAMP_NTZ, in zones of fixed offset, and for a literal of less than a day,
  *      which Spark adds to the instant itself. The difference of two of them is the one of their
  *      wall clocks, see [[WallClockValue]].
  *   3. Anything else that is deterministic, names one side only and has an ordered type is a
  *      [[Term.Variable]]: Spark computes it.
  *   4. Across the sides, sums of decimals and floating numbers are nodes that say how they are
  *      rounded.
  *   5. What is not understood gives `None`, never an error.
  *
  * One instance serves one join: it remembers which expression a term came from.
  */
final class TermTranslation(outputs: BySide[AttributeSet]) extends Leaves {
  import TermTranslation.{Factor, WatermarkSuffix}

  private val variables = mutable.LinkedHashMap.empty[Expression, Variable]
  private val sources = mutable.Map.empty[Term, Expression]
  private val spelled = new SpelledById
  // A sum is asked for its parts more than once, and so is each of them.
  private val terms = new java.util.IdentityHashMap[Expression, Option[Term]]

  /** The expression that a variable or an order candidate stands for. */
  def source(term: Term): Expression = sources(term)

  def compare(conjunct: Expression): Option[Compare] = conjunct match {
    case LessThan(l, r) => compare(Comparison.Less, l, r)
    case LessThanOrEqual(l, r) => compare(Comparison.AtMost, l, r)
    case GreaterThan(l, r) => compare(Comparison.Greater, l, r)
    case GreaterThanOrEqual(l, r) => compare(Comparison.AtLeast, l, r)
    case EqualTo(l, r) => compare(Comparison.Equal, l, r)
    case _ => None
  }

  private def compare(op: Comparison, l: Expression, r: Expression): Option[Compare] =
    for {
      left <- term(l)
      right <- term(r)
      // Ranks of decimals of different scales are not compared; Spark casts them before.
      if !isFraction(l.dataType) || l.dataType == r.dataType
    } yield Compare(op, left, right)

  override def leaf(expression: Expression): Option[Variable] = variable(expression).map { found =>
    sources.getOrElseUpdate(found, expression)
    found
  }

  def term(expression: Expression): Option[Term] = {
    val known = terms.get(expression)
    if (known != null) known
    else {
      val found = exact(expression).orElse(variable(expression)).orElse(rounded(expression))
      found.foreach(sources.getOrElseUpdate(_, expression))
      terms.put(expression, found)
      found
    }
  }

  private def exact(expression: Expression): Option[Term] = expression match {
    case Literal(value: Number, dataType) if isWhole(dataType) =>
      Some(Constant(BigInt(value.longValue)))
    case Add(l, r, context) =>
      binary(l, r, AddTerm.apply).filter(isExact(_, expression, context.evalMode))
    case Subtract(l, r, context) =>
      binary(l, r, SubtractTerm.apply).filter(isExact(_, expression, context.evalMode))
    case e @ Multiply(Factor(k), sum, context) if isAcross(sum) =>
      scaled(sum, k).filter(isExact(_, e, context.evalMode))
    case e @ Multiply(sum, Factor(k), context) if isAcross(sum) =>
      scaled(sum, k).filter(isExact(_, e, context.evalMode))
    case MultiplyDTInterval(sum, Factor(k)) if isAcross(sum) => scaled(sum, k)
    case MultiplyYMInterval(sum, Factor(k)) if isAcross(sum) => scaled(sum, k)
    case UnaryMinus(c, failOnError) =>
      val mode = if (failOnError) EvalMode.ANSI else EvalMode.LEGACY
      term(c).map(Negate(_)).filter(isExact(_, expression, mode))
    case Cast(c, to, _, _) if keepsValue(c.dataType, to) => term(c)
    // Convention 2.
    case t @ TimestampAddInterval(l, r, _) if InstantSum.is(t) => binary(l, r, AddTerm.apply)
    case s: SubtractTimestamps
        if !s.legacyInterval && s.children.forall(c => InstantSum.isOfMicros(c.dataType)) =>
      binary(wallClock(s, s.left), wallClock(s, s.right), SubtractTerm.apply)
    case SubtractDates(l, r, false) =>
      binary(l, r, SubtractTerm.apply).map(Scale(_, MICROS_PER_DAY))
    case _ => None
  }

  /** Convention 4. Of one side it is better off as a variable, whose value Spark computes. */
  private def rounded(expression: Expression): Option[Term] = expression match {
    case Literal(value: Any, OrderedType.Fractions()) =>
      val domain = OrderedType.domain(expression.dataType).get
      Some(Known(OrderedType.possible(value, expression.dataType), domain, expression.sql))
    case _ => TermTranslation.sums(child => term(child).getOrElse(opaque(child))).lift(expression)
  }

  private def scaled(sum: Expression, factor: BigInt): Option[Term] = term(sum).map { t =>
    if (factor.signum > 0) Scale(t, factor) else Negate(Scale(t, -factor))
  }

  /** A multiple of what one side has is a variable: the side may be ordered by it. */
  private def isAcross(expression: Expression): Boolean = !Side.both.exists(isOver(_, expression))

  /** The timestamp whose microseconds Spark subtracts. */
  private def wallClock(subtraction: SubtractTimestamps, timestamp: Expression): Expression =
    if (InstantSum.hasFixedOffset(subtraction, timestamp.dataType)) timestamp
    else WallClockValue(timestamp, subtraction.zoneId)

  private def binary(l: Expression, r: Expression, make: (Term, Term) => Term): Option[Term] =
    for {
      left <- term(l)
      right <- term(r)
    } yield make(left, right)

  /** Convention 1. */
  private def isExact(term: Term, expression: Expression, mode: EvalMode.Value): Boolean =
    expression.dataType match {
      case _: DayTimeIntervalType | _: YearMonthIntervalType => true
      case OrderedType.Integers() =>
        mode != EvalMode.LEGACY || cannotOverflow(term, expression.dataType)
      case _ => false
    }

  private def cannotOverflow(term: Term, dataType: DataType): Boolean = {
    val values = new Sweeps[BigInt](_.domain.interval)(Numbers).upward(term)
    val room = OrderedType.domain(dataType).map(_.interval)
    room.exists(all => Interval.intersect(values, all) == values)
  }

  private def keepsValue(from: DataType, to: DataType): Boolean = (from, to) match {
    case (a, b) if a == b => true
    case (OrderedType.Integers(), OrderedType.Integers()) => from.defaultSize <= to.defaultSize
    case (_, interval: DayTimeIntervalType) => OrderedType.widens(from, interval)
    case _ => false
  }

  private def isWhole(dataType: DataType): Boolean =
    OrderedType.domain(dataType).exists(_.interval != Interval.All)

  private def isFraction(dataType: DataType): Boolean = OrderedType.Fractions.unapply(dataType)

  /** Convention 3. */
  private def variable(expression: Expression): Option[Variable] =
    for {
      domain <- OrderedType.domain(expression.dataType)
      side <- Side.both.find(isOver(_, expression))
      if isComputable(expression)
    } yield variables.getOrElseUpdate(
      spelled(expression),
      Variable(freshName(expression), side, domain)
    )

  /** What must not be computed apart from the condition is of both sides. */
  override protected def sidesOf(expression: Expression): Set[Side] =
    if (expression.references.isEmpty || !isComputable(expression)) Side.both.toSet
    else Side.both.filter(side => expression.references.exists(outputs(side).contains)).toSet

  /** May it be computed once more, and outside the condition? */
  def isComputable(expression: Expression): Boolean =
    expression.deterministic && !expression.exists(isCostly)

  private def isOver(side: Side, expression: Expression): Boolean =
    expression.references.nonEmpty && expression.references.subsetOf(outputs(side))

  /** Not to be computed once more for every row, or not to be computed outside the condition. */
  private def isCostly(expression: Expression): Boolean = expression match {
    case _: Attribute => false
    case _: PlanExpression[_] | _: UserDefinedExpression | _: Unevaluable => true
    case _ => false
  }

  private def freshName(expression: Expression): String = {
    val name = WatermarkSuffix.replaceAllIn(expression.toString, "$1")
    val taken = variables.values.count(v => v.id == name || v.id.startsWith(s"$name~"))
    if (taken == 0) name else s"$name~$taken"
  }
}

object TermTranslation {

  /** `ts#7-T10000ms`, which no user wrote. */
  private val WatermarkSuffix = "(#\\d+)-T\\d+ms".r

  /** An integer that is not 0, as a literal. */
  private object Factor {
    def unapply(expression: Expression): Option[BigInt] = expression match {
      case Literal(k: Number, OrderedType.Integers()) if k.longValue != 0 =>
        Some(BigInt(k.longValue))
      case _ => None
    }
  }

  /** The operations of a formula: sums and multiples of numbers that are rounded, absolute values. */
  private def sums(of: Expression => Term): PartialFunction[Expression, Term] = {
    val numbers = new NumberTranslation(of).translate
    val casts = new CastTranslation(of).translate

    {
      case e @ (_: Add | _: Subtract | _: UnaryMinus | _: Abs) if numbers.isDefinedAt(e) =>
        numbers(e)
      case e @ (Multiply(_: Literal, _, _) | Multiply(_, _: Literal, _) | Divide(_, _: Literal, _))
          if numbers.isDefinedAt(e) =>
        numbers(e)
      case e: Cast if casts.isDefinedAt(e) => casts(e)
    }
  }
}
