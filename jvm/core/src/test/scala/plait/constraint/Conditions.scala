// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import org.scalacheck.Gen

import plait.Side
import plait.constraint.Term._
import plait.interval.FieldOperation._
import plait.interval.StepOperation._
import plait.interval._

/** Random conditions over two bytes, a double and a truth value, and what they are for values.
  *
  * {{{
  * (NOT (x <= abs((y % 3))) OR IF(p, d, (d / 2.5)) IN (1, 2, 5))
  * }}}
  */
object Conditions {
  val x: Variable = Variable("x", Side.Left, Domain.Byte)
  val y: Variable = Variable("y", Side.Right, Domain.Byte)
  val d: Variable = Variable("d", Side.Right, Domain.Double)
  val p: Variable = Variable("p", Side.Left, Domain.Boolean)
  val variables: Seq[Variable] = Seq(x, y, d, p)

  def valueOf(domain: Domain): Gen[Value] = domain match {
    case Domain.Boolean => Gen.oneOf(Value.True, Value.False)
    case Domain.Double =>
      Gen.frequency(
        8 -> Gen.choose(-12, 12).map(k => Value.of(k / 2.0)),
        1 -> Gen.oneOf(1e308, 0.1, 1.0 / 0, -1.0 / 0, Double.NaN).map(Value.of(_))
      )
    case _ =>
      Gen.frequency(
        8 -> Gen.choose(-9L, 9L).map(Value.of(_)),
        1 -> Gen.oneOf(-128L, 127L, 100L).map(Value.of(_))
      )
  }

  val assignment: Gen[Map[Variable, Value]] =
    Gen
      .sequence[Seq[Value], Value](variables.map(v => Value.orNull(valueOf(v.domain))))
      .map(variables.zip(_).toMap)

  /** The value of a term, none for an error. What a term does not reach raises none: the second half
    * of an OR whose first half is TRUE, the branch that is not taken.
    */
  def evaluate(term: Term, values: Map[Variable, Value]): Option[Value] = {
    def of(t: Term) = evaluate(t, values)
    def strict(operation: Operation, arguments: Seq[Term]): Option[Value] = {
      val found = arguments.map(of)
      if (found.forall(_.isDefined)) Evaluation(operation, found.flatten) else None
    }
    def until(settles: Value, operation: Operation, arguments: Seq[Term]): Option[Value] = {
      val found = arguments.map(of)
      val reached = found.indexWhere(_.forall(_ == settles))
      if (reached >= 0) found(reached) else Evaluation(operation, found.flatten)
    }
    term match {
      case v: Variable => Some(values(v))
      case Constant(k) => Some(Value.Number(Rational(k)))
      case Known(possible, _, _) =>
        Some(
          if (possible.mayBeNull) Value.Null
          else if (possible.mayBeNaN) Value.NaN
          else Value.Number(possible.values.single.get)
        )
      case opaque: Opaque => throw new IllegalArgumentException(s"$opaque has no value")
      case Call(Logic.And, arguments) => until(Value.False, Logic.And, arguments)
      case Call(Logic.Or, arguments) => until(Value.True, Logic.Or, arguments)
      case Call(_: Choice.If, Seq(condition, a, b)) =>
        of(condition).flatMap(c => of(if (c == Value.True) a else b))
      case Call(_: Choice.Coalesce, Seq(a, b)) =>
        of(a).flatMap(first => if (first == Value.Null) of(b) else Some(first))
      case Call(a: Arithmetic, Seq(l, r)) if isNullAlready(a, of(l), of(r)) => Some(Value.Null)
      case Call(operation, arguments) => strict(operation, arguments)
      case Add(l, r) => strict(Arithmetic.exact(Plus), Seq(l, r))
      case Subtract(l, r) => strict(Arithmetic.exact(Minus), Seq(l, r))
      case Term.Negate(c) => strict(Arithmetic.exact(FieldOperation.Negate), Seq(c))
      case Scale(c, k) => strict(Arithmetic.exact(Times), Seq(c, Constant(k)))
    }
  }

  /** NULL in one argument, or 0 as a divisor where that is no error: the other may fail. */
  private def isNullAlready(a: Arithmetic, l: Option[Value], r: Option[Value]): Boolean =
    Seq(l, r).exists(_.contains(Value.Null)) ||
      (a.overflow != Overflow.Fails && r.contains(Value.Number(Rational.Zero)) &&
        a.operation.isPartial(Vector(IntervalSet.All, IntervalSet.point(Rational.Zero))))

  private def known(value: Value, domain: Domain): Term = value match {
    case Value.Null => Known(Possible.JustNull, domain, "NULL")
    case Value.NaN => Known(Possible(IntervalSet.Empty, Specials.NaN), domain, "NaN")
    case Value.Number(k) => Known(Possible.only(k), domain, k.toString)
  }

  private def leaf(domain: Domain): Gen[Term] = Gen.frequency(
    4 -> Gen.oneOf(variables.filter(_.domain == domain)),
    2 -> Value.orNull(valueOf(domain)).map(known(_, domain))
  )

  private val overflow: Gen[Overflow] =
    Gen.oneOf(Overflow.Fails, Overflow.GivesNull, Overflow.Wraps)

  /** A term of a byte, a double or a truth value. */
  def term(domain: Domain, depth: Int): Gen[Term] =
    if (depth == 0) leaf(domain)
    else
      domain match {
        case Domain.Boolean => Gen.frequency(1 -> leaf(domain), 8 -> condition(depth))
        case _ =>
          Gen.frequency(3 -> leaf(domain), 4 -> computed(domain, depth), 2 -> chosen(domain, depth))
      }

  private def computed(domain: Domain, depth: Int): Gen[Term] = {
    val own = term(domain, depth - 1)
    val binary =
      if (domain == Domain.Double) Seq(Plus, Minus, Times, Divide, Remainder)
      else Seq(Plus, Minus, Times, Quotient, Remainder, PositiveModulus)
    def on(operation: RealOperation, from: Domain, arguments: Term*): Gen[Term] = overflow.map {
      case Overflow.Wraps if domain == Domain.Double =>
        Call(Arithmetic(operation, from, domain, Overflow.Fails), arguments: _*)
      case other => Call(Arithmetic(operation, from, domain, other), arguments: _*)
    }
    val ofBytes =
      if (domain == Domain.Double) term(Domain.Byte, depth - 1).flatMap(on(Same, Domain.Byte, _))
      else own
    Gen.frequency(
      6 -> (for { op <- Gen.oneOf(binary); a <- own; b <- own; t <- on(op, domain, a, b) } yield t),
      2 -> (for {
        op <- Gen.oneOf(FieldOperation.Negate, Absolute, Sign); a <- own; t <- on(op, domain, a)
      } yield t),
      1 -> ofBytes
    )
  }

  private def chosen(domain: Domain, depth: Int): Gen[Term] = {
    val own = term(domain, depth - 1)
    val pair = for {
      op <- Gen.oneOf(Choice.Coalesce(domain), Choice.Least(domain), Choice.Greatest(domain))
      a <- own
      b <- own
    } yield Call(op, a, b)
    val either =
      for { c <- term(Domain.Boolean, depth - 1); a <- own; b <- own } yield Call(
        Choice.If(domain),
        c,
        a,
        b
      )
    Gen.oneOf(pair, either)
  }

  private val comparison: Gen[Operation] = Gen.frequency(
    6 -> Terms.comparison.map(Compared(_)),
    1 -> Gen.const(NullSafeEqual)
  )

  private val membership: Gen[Operation] = for {
    members <- Gen.choose(1, 6).flatMap(Gen.listOfN(_, Sets.whole))
    nulls <- Gen.oneOf(Specials.None, Specials.None, Specials.Null)
  } yield Logic.In(members.toVector, nulls)

  private def condition(depth: Int): Gen[Term] = {
    val truth = term(Domain.Boolean, depth - 1)
    val compared = for {
      domain <- Gen.oneOf(Domain.Byte, Domain.Double)
      op <- comparison
      a <- term(domain, depth - 1)
      b <- term(domain, depth - 1)
    } yield Call(op, a, b)
    // Exact sums of bytes, as they stand in the linear conditions.
    val linear = for {
      op <- comparison
      a <- term(Domain.Byte, depth - 1)
      k <- Gen.choose(-9, 9)
      n <- Gen.choose(1, 3)
    } yield Call(op, Subtract(Scale(x, n), Term.Negate(a)), Add(y, Constant(k)))
    val junction = for {
      op <- Gen.oneOf(Logic.And, Logic.Or)
      count <- Gen.choose(2, 3)
      parts <- Gen.listOfN(count, truth)
    } yield Call(op, parts: _*)
    val asked = for {
      domain <- Gen.oneOf(Domain.Byte, Domain.Double)
      a <- term(domain, depth - 1)
      op <- Gen.frequency(
        3 -> membership,
        1 -> Gen.oneOf(Specials.Null, Specials.NaN).map(Logic.Is(_))
      )
    } yield Call(op, a)
    Gen.frequency(
      4 -> compared,
      2 -> linear,
      4 -> junction,
      2 -> asked,
      1 -> truth.map(Call(Logic.Not, _)),
      1 -> chosen(Domain.Boolean, depth)
    )
  }
}
