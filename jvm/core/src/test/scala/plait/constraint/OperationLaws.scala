// SPDX-License-Identifier: Apache-2.0
// Laws.
package plait.constraint

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.LawSuite
import plait.constraint.Value._
import plait.interval.FieldOperation._
import plait.interval.StepOperation._
import plait.interval._

/** For each operation: with `a ∈ A` and `b ∈ B`, the value of `a op b` is in `forward(A, B)`; and with
  * that in `R`, `a` and `b` are in `backward(R)`. NULL and NaN are values like others here, and
  * [[Evaluation]] says what the value is.
  */
class OperationLaws extends LawSuite {

  /** @param value none for an error */
  private case class Trial(
      operation: Operation,
      arguments: Vector[Possible],
      values: Vector[Value],
      value: Option[Value],
      result: Possible
  )

  private def trial(operation: Operation, domains: Seq[Domain]): Gen[Trial] = for {
    values <- Gen.sequence[Vector[Value], Value](domains.map(d => orNull(valueOf(d))))
    arguments <- Gen.sequence[Vector[Possible], Possible](
      values.zip(domains).map { case (v, d) => around(v, d, valueOf(d)) }
    )
    value = Evaluation(operation, values)
    result <- around(value.getOrElse(Null), operation.domain, valueOf(operation.domain))
  } yield Trial(operation, arguments, values, value, result)

  private def isLawful(t: Trial, operation: Operation, value: Value): Boolean =
    isIn(operation.forward(t.arguments), value) && t.values.indices.forall { i =>
      isIn(operation.backward(t.result, t.arguments, i), t.values(i))
    }

  /** Some case of those to try must be so. */
  private def hasCase(t: Trial): Boolean = {
    val cases = t.operation.cases(t.result, t.arguments)
    cases.isEmpty || cases.exists { case (i, only) => isIn(only, t.values(i)) }
  }

  private def law(name: String, domains: Domain*)(operations: Operation*): Unit =
    property(name) {
      forAll(Gen.oneOf(operations).flatMap(trial(_, domains))) { t =>
        t.value.forall(isLawful(t, t.operation, _)) && hasCase(t)
      }
    }

  private def integer(limit: Long): Gen[Value] = Gen
    .frequency(
      6 -> Gen.choose(-12L, 12L),
      2 -> Gen.oneOf(limit, -limit - 1, limit - 1, -limit, limit / 2 + 1, 0L),
      1 -> Gen.choose(-limit - 1, limit)
    )
    .map(Value.of(_))

  private def decimal(unscaled: Long, scale: Int): Gen[Value] = Gen
    .frequency(
      3 -> Gen.choose(-30L, 30L),
      2 -> Gen.choose(-unscaled, unscaled),
      1 -> Gen.oneOf(unscaled, -unscaled)
    )
    .map(x => Number(Rational.scaled(x, scale)))

  private def valueOf(domain: Domain): Gen[Value] = domain match {
    case Domain.Boolean => Gen.oneOf(True, False)
    case Domain.Byte => integer(Byte.MaxValue.toLong)
    case Domain.Int | Domain.Date => integer(Int.MaxValue.toLong)
    case Domain.Double => Doubles.double.map(Value.of(_))
    case Domain.Float => Doubles.float.map(Value.of(_))
    case Domain.Decimal(precision, scale) =>
      decimal(BigInt(10).pow(precision).toLong - 1, scale)
    case _ => integer(Long.MaxValue)
  }

  private def arithmetic(from: Domain, to: Domain, overflows: Overflow*)(
      operations: RealOperation*
  ): Seq[Operation] =
    for { operation <- operations; overflow <- overflows } yield Arithmetic(
      operation,
      from,
      to,
      overflow
    )

  import Overflow._

  for (whole <- Seq[Domain](Domain.Byte, Domain.Long)) {
    law(s"$whole: a + b, a - b, a * b, div, %, pmod", whole, whole)(
      arithmetic(whole, whole, Fails, GivesNull, Wraps)(
        Plus,
        Minus,
        Times,
        Quotient,
        Remainder,
        PositiveModulus
      ): _*
    )
    law(s"$whole: -a, abs, sign", whole)(
      arithmetic(whole, whole, Fails, GivesNull, Wraps)(Negate, Absolute, Sign): _*
    )
  }

  private val (narrow, wide) = (Domain.Decimal(4, 1), Domain.Decimal(5, 2))
  law("decimals: a + b, a - b, a * b, a / b, %", narrow, narrow)(
    arithmetic(narrow, wide, Fails, GivesNull)(Plus, Minus, Times, Divide, Remainder): _*
  )
  law("decimals: -a, abs, and casts that round", wide)(
    arithmetic(wide, narrow, Fails, GivesNull)(Negate, Absolute, Same): _*
  )

  law("doubles: a + b, a - b, a * b, a / b, %, pmod", Domain.Double, Domain.Double)(
    arithmetic(Domain.Double, Domain.Double, Fails, GivesNull)(
      Plus,
      Minus,
      Times,
      Divide,
      Remainder,
      PositiveModulus
    ): _*
  )
  law("doubles: -a, abs, sign, floor, ceil", Domain.Double)(
    arithmetic(Domain.Double, Domain.Double, Fails, GivesNull)(
      Negate,
      Absolute,
      Sign,
      Floor(Rational.One),
      Ceiling(Rational.One)
    ): _*
  )
  private val tenths = Rational(BigInt(1), BigInt(10))
  for (floating <- Seq(Domain.Double, Domain.Float))
    law(s"$floating: round and bround to tenths, halves of them as their texts say", floating)(
      arithmetic(floating, floating, Fails)(
        OfShortestText(Nearest(tenths, Middle.AwayFromZero), floating),
        OfShortestText(Nearest(tenths, Middle.ToEven), floating)
      ): _*
    )
  law("decimals: floor, ceil, round and bround to whole numbers", narrow)(
    arithmetic(narrow, Domain.Decimal(4, 0), Fails)(
      Floor(Rational.One),
      Ceiling(Rational.One),
      Nearest(Rational.One, Middle.AwayFromZero),
      Nearest(Rational.One, Middle.ToEven)
    ): _*
  )
  law("floats: a + b, a - b, a * b, a / b, %", Domain.Float, Domain.Float)(
    arithmetic(Domain.Float, Domain.Float, Fails, GivesNull)(
      Plus,
      Minus,
      Times,
      Divide,
      Remainder
    ): _*
  )
  law("casts of doubles to floats", Domain.Double)(
    arithmetic(Domain.Double, Domain.Float, Fails)(Same): _*
  )
  for (floating <- Seq(Domain.Double, Domain.Float))
    law(s"$floating: NaN and infinities as NULL", floating)(Finite(floating))
  law("casts of longs to doubles", Domain.Long)(
    arithmetic(Domain.Long, Domain.Double, Fails)(Same): _*
  )
  law("casts of longs to bytes", Domain.Long)(
    arithmetic(Domain.Long, Domain.Byte, Fails, GivesNull, Wraps)(Same): _*
  )
  law("dates: differences that wrap around the ints", Domain.Date, Domain.Date)(
    arithmetic(Domain.Date, Domain.Int, Wraps)(Minus): _*
  )
  law("dates: sums and differences that wrap around the dates", Domain.Date, Domain.Int)(
    arithmetic(Domain.Date, Domain.Date, Wraps)(Plus, Minus): _*
  )
  for (to <- Seq(Domain.Int, Domain.Long))
    law(s"casts of doubles to $to", Domain.Double)(
      arithmetic(Domain.Double, to, Fails, GivesNull, Saturates)(ToZero(Rational.One)): _*
    )

  private def bytes(from: Long, to: Long) =
    Possible.in(IntervalSet.closed(Rational(from), Rational(to)))
  private def wrapping(operation: RealOperation) =
    Arithmetic(operation, Domain.Byte, Domain.Byte, Wraps)

  test(
    "bytes that wrap: a + 100 = -120 only for a = 36, a * 2 = 2 for 1 and -127, -a = -128 for it"
  ) {
    val all = Possible.in(Domain.Byte.everything)
    def back(operation: RealOperation, result: Long, others: Possible*) =
      wrapping(operation).backward(bytes(result, result), (all +: others).toVector, 0).values
    assertEquals(back(Plus, -120, bytes(100, 100)), bytes(36, 36).values)
    assertEquals(
      back(Times, 2, bytes(2, 2)),
      IntervalSet.points(Seq(Rational(-127), Rational(1)))
    )
    assertEquals(back(Negate, -128), bytes(-128, -128).values)
  }

  test("bytes that wrap: [100, 127] + 1 is -128 or in [101, 127]; [0, 3] comes of at most five") {
    assertEquals(
      wrapping(Plus).forward(Vector(bytes(100, 127), bytes(1, 1))).values,
      bytes(101, 127).union(bytes(-128, -128)).values
    )
    assertEquals(
      wrapping(Minus).backward(bytes(0, 3), Vector(bytes(-128, 127), bytes(-100, -99)), 0).values,
      bytes(-100, -96).values
    )
  }

  test(
    "a decimal(4, 1) whose floor is 2 is in [2, 2.9], as one that rounds to 2 is in [1.5, 2.4]"
  ) {
    def back(operation: RealOperation) = narrow.tighten(
      Arithmetic(operation, narrow, Domain.Decimal(4, 0), Fails)
        .backward(bytes(2, 2), Vector(Possible.in(narrow.everything)), 0)
        .values
    )
    def from(a: Double, b: Double) = IntervalSet.closed(
      Rational.of(BigDecimal(a)),
      Rational.of(BigDecimal(b))
    )
    assertEquals(back(Floor(Rational.One)), from(2, 2.9))
    assertEquals(back(Nearest(Rational.One, Middle.AwayFromZero)), from(1.5, 2.4))
  }

  test("the double 2.675 is less than its text, which rounds to 2.68") {
    val hundredths = Nearest(Rational(BigInt(1), BigInt(100)), Middle.AwayFromZero)
    val round = OfShortestText(hundredths, Domain.Double)
    val back = Arithmetic(round, Domain.Double, Domain.Double, Fails).backward(
      Possible.only(Rational.of(2.68)),
      Vector(Domain.Double.all),
      0
    )
    assert(back.contains(Rational.of(2.675)), back.toString)
  }

  private val comparisons: Seq[Operation] = Seq(
    Comparison.Less,
    Comparison.AtMost,
    Comparison.Greater,
    Comparison.AtLeast,
    Comparison.Equal,
    Comparison.NotEqual
  ).map(Compared(_))

  for (domain <- Seq[Domain](Domain.Byte, Domain.Double)) {
    law(s"$domain: <, <=, >, >=, =, <>, <=>", domain, domain)(comparisons :+ NullSafeEqual: _*)
    law(s"$domain: is NULL, is NaN, is either", domain)(
      Seq(Specials.Null, Specials.NaN, Specials.NullOrNaN).map(Logic.Is(_)): _*
    )
    law(s"$domain: IN, with a NULL in the list and without", domain)((for {
      members <- Seq(Vector(1L, 2L, 5L), Vector(0L), Vector(-3L, 0L, 1L, 4L, 7L, 12L))
      nulls <- Seq(Specials.None, Specials.Null)
    } yield Logic.In(members.map(Rational(_)), nulls)): _*)
    law(s"$domain: IF", Domain.Boolean, domain, domain)(Choice.If(domain))
    law(s"$domain: COALESCE, LEAST, GREATEST", domain, domain)(
      Choice.Coalesce(domain),
      Choice.Least(domain),
      Choice.Greatest(domain)
    )
  }

  private val truths = Seq.fill(3)(Domain.Boolean)
  law("AND, OR of two", truths.take(2): _*)(Logic.And, Logic.Or)
  law("AND, OR of three", truths: _*)(Logic.And, Logic.Or)
  law("NOT", Domain.Boolean)(Logic.Not)
}
