// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import java.math.{BigDecimal => JavaDecimal, RoundingMode}

import plait.constraint.Value._
import plait.interval.FieldOperation._
import plait.interval.StepOperation._
import plait.interval._

/** What an operation gives for values, as naively as it can be said: with the JVM's bytes, longs,
  * doubles and decimals, and three truth values. `None` is an error.
  */
object Evaluation {

  def apply(operation: Operation, values: Seq[Value]): Option[Value] = operation match {
    case arithmetic: Arithmetic => compute(arithmetic, values)
    case Compared(comparison) =>
      Some(
        either(values)(
          truth(comparison.holds(BigInt(Value.compare(values(0), values(1))), BigInt(0)))
        )
      )
    case NullSafeEqual => Some(truth(values(0) == values(1)))
    case Logic.And =>
      Some(if (values.contains(False)) False else if (values.contains(Null)) Null else True)
    case Logic.Or =>
      Some(if (values.contains(True)) True else if (values.contains(Null)) Null else False)
    case Logic.Not => Some(either(values)(truth(values(0) == False)))
    case Logic.Is(specials) =>
      Some(values(0) match {
        case Null => truth(specials.hasNull)
        case NaN => truth(specials.hasNaN)
        case _ => False
      })
    case Logic.In(members, withNull) =>
      val isMember = members.exists(m => values(0) == Number(m))
      Some(either(values)(if (isMember) True else if (withNull.hasNull) Null else False))
    case Finite(floating) =>
      Some(values(0) match {
        case Number(x) if x.abs != floating.infinity => values(0)
        case _ => Null
      })
    case _: Choice.If => Some(if (values(0) == True) values(1) else values(2))
    case _: Choice.Coalesce => Some(values.find(_ != Null).getOrElse(Null))
    case _: Choice.Least => Some(extreme(values)(_ <= 0))
    case _: Choice.Greatest => Some(extreme(values)(_ >= 0))
    case other => throw new IllegalArgumentException(s"$other")
  }

  private def either(values: Seq[Value])(result: => Value): Value =
    if (values.contains(Null)) Null else result

  private def extreme(values: Seq[Value])(isBetter: Int => Boolean): Value =
    values
      .filter(_ != Null)
      .reduceOption { (a, b) =>
        if (isBetter(Value.compare(a, b))) a else b
      }
      .getOrElse(Null)

  private def compute(a: Arithmetic, values: Seq[Value]): Option[Value] =
    if (values.contains(Null)) Some(Null)
    else
      (a.from, a.domain) match {
        case (Domain.Double, to) if to.hasNaN => doubles(a, values.map(toDouble))
        case (Domain.Float, Domain.Float) => floats(a, values.map(toDouble(_).toFloat))
        case (_: Domain.Floating, _) => cast(a, toDouble(values(0)))
        case (_: Domain.Decimal, to: Domain.Decimal) => decimals(a, to, values.map(toDecimal))
        case (_, Domain.Double) => Some(Value.of(toDecimal(values(0)).doubleValue))
        case _ => integers(a, values.map(toDecimal(_).toBigIntegerExact).map(BigInt(_)))
      }

  private def undefined(a: Arithmetic): Option[Value] =
    if (a.overflow == Overflow.Fails) None else Some(Null)

  private def integers(a: Arithmetic, xs: Seq[BigInt]): Option[Value] = {
    val exact = (a.operation, xs) match {
      case (Plus, Seq(x, y)) => Some(x + y)
      case (Minus, Seq(x, y)) => Some(x - y)
      case (Times, Seq(x, y)) => Some(x * y)
      case (Negate, Seq(x)) => Some(-x)
      case (Absolute, Seq(x)) => Some(x.abs)
      case (Sign, Seq(x)) => Some(BigInt(x.signum))
      case (Same, Seq(x)) => Some(x)
      case (Quotient, Seq(x, y)) => Option.when(y != 0)(x / y)
      case (Remainder, Seq(x, y)) => Option.when(y != 0)(x % y)
      case (PositiveModulus, Seq(x, y)) =>
        Option.when(y != 0)(if ((x % y).signum < 0) (x % y + y) % y else x % y)
      case other => throw new IllegalArgumentException(s"$other")
    }
    exact.fold(undefined(a)) { x =>
      val wrapped = a.domain match {
        case Domain.Byte => BigInt(x.toByte)
        case Domain.Int | Domain.Date => BigInt(x.toInt)
        case Domain.Long => BigInt(x.toLong)
        case _ => x
      }
      if (x == wrapped || a.overflow == Overflow.Wraps) Some(Number(Rational(wrapped)))
      else undefined(a)
    }
  }

  private def doubles(a: Arithmetic, xs: Seq[Double]): Option[Value] = {
    val result = (a.operation, xs) match {
      case (Plus, Seq(x, y)) => Some(x + y)
      case (Minus, Seq(x, y)) => Some(x - y)
      case (Times, Seq(x, y)) => Some(x * y)
      case (Divide, Seq(x, y)) => Option.when(y != 0)(x / y)
      case (Remainder, Seq(x, y)) => Option.when(y != 0)(x % y)
      case (PositiveModulus, Seq(x, y)) =>
        Option.when(y != 0)(if (x % y < 0) (x % y + y) % y else x % y)
      case (Negate, Seq(x)) => Some(-x)
      case (Absolute, Seq(x)) => Some(math.abs(x))
      case (Sign, Seq(x)) => Some(math.signum(x))
      case (Same, Seq(x)) => Some(x)
      case (Floor(Rational.One, _), Seq(x)) => Some(math.floor(x))
      case (Ceiling(Rational.One), Seq(x)) => Some(math.ceil(x))
      case (OfShortestText(step, _), Seq(x)) =>
        Some(if (x.isNaN || x.isInfinite) x else stepped(step, JavaDecimal.valueOf(x)).doubleValue)
      case other => throw new IllegalArgumentException(s"$other")
    }
    result.fold(undefined(a)) { x =>
      Some(if (a.domain == Domain.Float) Value.of(x.toFloat) else Value.of(x))
    }
  }

  private def floats(a: Arithmetic, xs: Seq[Float]): Option[Value] = ((a.operation, xs) match {
    case (Plus, Seq(x, y)) => Some(x + y)
    case (Minus, Seq(x, y)) => Some(x - y)
    case (Times, Seq(x, y)) => Some(x * y)
    case (Divide, Seq(x, y)) => Option.when(y != 0)(x / y)
    case (Remainder, Seq(x, y)) => Option.when(y != 0)(x % y)
    case (Negate, Seq(x)) => Some(-x)
    case (Absolute, Seq(x)) => Some(math.abs(x))
    case (OfShortestText(step, _), Seq(x)) =>
      // As Spark does it: by the text of the double that the float is.
      Some(
        if (x.isNaN || x.isInfinite) x
        else stepped(step, JavaDecimal.valueOf(x.toDouble)).floatValue
      )
    case other => throw new IllegalArgumentException(s"$other")
  }).fold(undefined(a))(x => Some(Value.of(x)))

  private def stepped(step: Step, x: JavaDecimal): JavaDecimal = {
    val places = if (step.unit == Rational.One) 0 else 1
    x.setScale(
      places,
      step match {
        case _: Floor => RoundingMode.FLOOR
        case _: Ceiling => RoundingMode.CEILING
        case Nearest(_, Middle.ToEven) => RoundingMode.HALF_EVEN
        case _ => RoundingMode.HALF_UP
      }
    )
  }

  /** What is after the point falls away; then the result fits, or it does not. */
  private def cast(a: Arithmetic, x: Double): Option[Value] = {
    val nearest = a.domain match {
      case Domain.Int => x.toInt.toLong
      case _ => x.toLong
    }
    val fits = !x.isNaN && !x.isInfinite &&
      new JavaDecimal(x).toBigInteger == JavaDecimal.valueOf(nearest).toBigInteger
    if (fits || a.overflow == Overflow.Saturates) Some(Value.of(nearest)) else undefined(a)
  }

  private def decimals(
      a: Arithmetic,
      to: Domain.Decimal,
      xs: Seq[JavaDecimal]
  ): Option[Value] = {
    val exact = (a.operation, xs) match {
      case (Plus, Seq(x, y)) => Some(x.add(y))
      case (Minus, Seq(x, y)) => Some(x.subtract(y))
      case (Times, Seq(x, y)) => Some(x.multiply(y))
      case (Divide, Seq(x, y)) =>
        Option.when(y.signum != 0)(x.divide(y, to.scale, RoundingMode.HALF_UP))
      case (Remainder, Seq(x, y)) => Option.when(y.signum != 0)(x.remainder(y))
      case (Negate, Seq(x)) => Some(x.negate)
      case (Absolute, Seq(x)) => Some(x.abs)
      case (Same, Seq(x)) => Some(x)
      case (step: Step, Seq(x)) => Some(stepped(step, x))
      case other => throw new IllegalArgumentException(s"$other")
    }
    exact
      .map(_.setScale(to.scale, RoundingMode.HALF_UP))
      .filter(_.precision <= to.precision)
      .fold(undefined(a))(x => Some(Number(Rational.of(BigDecimal(x)))))
  }

  /** Exact for the numbers of doubles, whose denominators are powers of two; `2^1024` is infinity. */
  private def toDouble(value: Value): Double = value match {
    case Number(x) => math.scalb(x.numerator.toDouble, 1 - x.denominator.bitLength)
    case _ => Double.NaN
  }

  private def toDecimal(value: Value): JavaDecimal = value match {
    case Number(x) =>
      new JavaDecimal(x.numerator.bigInteger).divide(new JavaDecimal(x.denominator.bigInteger))
    case _ => throw new IllegalArgumentException(s"$value")
  }
}
