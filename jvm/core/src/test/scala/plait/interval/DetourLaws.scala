// SPDX-License-Identifier: Apache-2.0
// Laws.
package plait.interval

import java.math.{BigDecimal => JavaDecimal}

import org.scalacheck.Prop._
import org.scalacheck.{Gen, Prop}

import plait.LawSuite
import plait.interval.Detour._
import plait.interval.FieldOperation._
import plait.interval.Sets._
import plait.interval.StepOperation.ToZero

class DetourLaws extends LawSuite {
  private def keeps(op: RealOperation, values: Rational*)(result: Rational): Prop =
    forAllNoShrink(
      Gen.sequence[Vector[IntervalSet], IntervalSet](values.map(around(_, number))),
      around(result, number)
    ) { (as, r) =>
      op.forward(as).contains(result) &&
      values.indices.forall(i => op.backward(r, as, i).contains(values(i)))
    }

  private val tenth = Rational(BigInt(1), BigInt(10))

  property("a * b, off by no more than a tenth") {
    forAllNoShrink(number, number, Gen.choose(-10L, 10L)) { (a, b, off) =>
      val result = a * b + Rational(BigInt(off), BigInt(100))
      keeps(Near(Times, tenth), a, b)(result)
    }
  }

  property("a / b, off by no more than a tenth, and undefined as it is") {
    forAllNoShrink(number, number.filter(_.signum != 0), Gen.choose(-10L, 10L)) { (a, b, off) =>
      val near = Near(Divide, tenth)
      near.isPartial(Vector(point(a), point(Rational.Zero))) &&
      keeps(near, a, b)(a / b + Rational(BigInt(off), BigInt(100)))
    }
  }

  private def point(x: Rational) = IntervalSet.point(x)

  /** Close to whole numbers, most of them closer than doubles are to each other. */
  private val almostWhole: Gen[JavaDecimal] = for {
    whole <- Gen.oneOf(Gen.choose(-3L, 3L), Gen.choose(-(1L << 33), 1L << 33))
    off <- Gen.choose(-2L, 2L)
    scale <- Gen.choose(0, 20)
  } yield JavaDecimal.valueOf(whole).add(JavaDecimal.valueOf(off, scale))

  private def exactly(x: JavaDecimal) = Rational.of(BigDecimal(x))

  property("decimals to zero, as they are or by way of a double") {
    val op = ByWayOf(Domain.Double, ToZero(Rational.One))
    forAllNoShrink(almostWhole) { x =>
      val ofItself = Rational(BigInt(x.toBigInteger))
      val ofDouble = Rational(BigInt(new JavaDecimal(x.doubleValue).toBigInteger))
      keeps(op, exactly(x))(ofItself) && keeps(op, exactly(x))(ofDouble)
    }
  }

  property("doubles to longs, the one after the greatest to the greatest") {
    val end = Math.scalb(1.0, 63)
    val doubles = Gen.oneOf(
      Gen.oneOf(end, Math.nextDown(end), -end, 0.5, -0.5, 1.0),
      Gen.choose(-1e19, 1e19).filter(x => -end <= x && x <= end),
      Gen.choose(-3.0, 3.0)
    )
    forAllNoShrink(doubles)(x => keeps(ToLong, Rational.of(x))(Rational(x.toLong)))
  }

  test("2^63 alone becomes the greatest long, which comes from it") {
    val (end, last) = (point(Rational(BigInt(1) << 63)), point(Rational(Long.MaxValue)))
    assert(last.subsetOf(ToLong.forward(Vector(end))))
    assert(end.subsetOf(ToLong.backward(last, Vector(IntervalSet.All), 0)))
  }
}
