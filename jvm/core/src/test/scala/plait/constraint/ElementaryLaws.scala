// SPDX-License-Identifier: Apache-2.0
// Laws.
package plait.constraint

import org.scalacheck.Prop._
import org.scalacheck.{Gen, Prop}

import plait.LawSuite
import plait.constraint.Doubles._
import plait.interval._

class ElementaryLaws extends LawSuite {
  import ElementaryLaws._

  /** What Spark computes, in its interpreter and in its generated code. */
  private type Function = Double => Seq[Value]

  private def each(functions: (Double => Double)*): Function =
    x => functions.map(f => Some(f(x)))

  private def logarithm(asymptote: Double)(f: Double => Double): Function =
    x => Seq(if (x <= asymptote) None else Some(f(x)))

  private val functions: Map[String, Function] = Map(
    "sqrt" -> each(StrictMath.sqrt, Math.sqrt),
    "cbrt" -> each(StrictMath.cbrt, Math.cbrt),
    "exp" -> each(StrictMath.exp, Math.exp),
    "expm1" -> each(StrictMath.expm1, Math.expm1),
    "ln" -> logarithm(0)(StrictMath.log),
    "log2" -> logarithm(0)(x => StrictMath.log(x) / StrictMath.log(2)),
    "log10" -> logarithm(0)(StrictMath.log10),
    "log1p" -> logarithm(-1)(StrictMath.log1p),
    "sin" -> each(StrictMath.sin, Math.sin),
    "cos" -> each(StrictMath.cos, Math.cos),
    "tan" -> each(StrictMath.tan, Math.tan),
    "asin" -> each(StrictMath.asin, Math.asin),
    "acos" -> each(StrictMath.acos, Math.acos),
    "atan" -> each(StrictMath.atan, Math.atan),
    "sinh" -> each(StrictMath.sinh, Math.sinh),
    "cosh" -> each(StrictMath.cosh, Math.cosh),
    "tanh" -> each(StrictMath.tanh, Math.tanh),
    "degrees" -> each(StrictMath.toDegrees, Math.toDegrees),
    "radians" -> each(StrictMath.toRadians, Math.toRadians)
  )

  test("every function has its law") {
    assertEquals(functions.keySet, Elementary.named.keySet)
  }

  /** The text only where it is needed: numbers may have hundreds of digits. */
  private def held(possible: Possible, value: Value): Prop =
    if (holds(possible, value)) Prop.passed else Prop.falsified :| s"$value in $possible"

  private def singles(function: Function) = cases { random =>
    val x = value(random)
    val values = x.fold(Seq(None: Value))(function)
    Single(x, around(x, random), values.map(y => y -> around(y, random)))
  }

  for ((name, function) <- functions) {
    val operation = Elementary.named(name)
    property(s"$name: x ∈ A gives f(x) ∈ forward(A), and with f(x) ∈ R, x ∈ backward(R, A)") {
      forAll(singles(function)) { case Single(x, own, values) =>
        val forward = operation.forward(Vector(own))
        all(values.map { case (y, result) =>
          val back = operation.backward(result, Vector(own), 0)
          held(forward, y) && held(back, x)
        }: _*)
      }
    }
  }

  /** One of the two arguments is known, or none is. */
  private def pairs(function: (Double, Double) => Seq[Value]) = cases { random =>
    def argument =
      if (random.nextInt(3) == 0) Some((random.nextInt(25) - 8) / 2.0) else value(random)
    val (a, b) = (argument, argument)
    val values = (for { x <- a; y <- b } yield function(x, y)).getOrElse(Seq(None))
    def known(x: Value) = x.filter(!_.isNaN).fold(around(x, random)) { at =>
      Possible(IntervalSet.point(number(at)), around(x, random).specials)
    }
    val own = random.nextInt(5) match {
      case 0 | 1 => Vector(known(a), around(b, random))
      case 2 | 3 => Vector(around(a, random), known(b))
      case _ => Vector(around(a, random), around(b, random))
    }
    Pair((a, b), own, values.map(y => y -> around(y, random)))
  }

  private def law(operation: Operation, function: (Double, Double) => Seq[Value]) =
    forAll(pairs(function)) { case Pair((a, b), own, values) =>
      val forward = operation.forward(own)
      all(values.map { case (y, result) =>
        val backs = Seq(a -> 0, b -> 1).map { case (x, index) =>
          held(operation.backward(result, own, index), x)
        }
        held(forward, y) && backs(0) && backs(1)
      }: _*)
    }

  property("pow: x, c ∈ A gives x^c ∈ forward(A), and with x^c ∈ R, x and c ∈ backward(R, A)") {
    law(PowerOperation, (x, c) => Seq(Some(StrictMath.pow(x, c)), Some(Math.pow(x, c))))
  }

  property("log: b, x ∈ A gives log(b, x) ∈ forward(A), and with that ∈ R, x ∈ backward(R, A)") {
    law(
      Logarithm,
      (b, x) => Seq(if (b <= 0 || x <= 0) None else Some(StrictMath.log(x) / StrictMath.log(b)))
    )
  }

  private val degrees = Gen.frequency(
    29 -> Gen.choose(2, 4),
    1 -> Gen.choose(2, Power.Greatest)
  )
  private val rationals = cases { random =>
    def finite = { val x = double(random); if (x.isInfinite) 7.0 else x }
    Rational.of(finite) / Rational(random.nextInt(20) + 1L)
  }

  property("root: below^n <= x <= above^n, and no double lies between") {
    forAll(rationals, degrees) { (x, n) =>
      val (below, above) = Power.root(x.abs, n)
      val isAround = below.power(n) <= x.abs && x.abs <= above.power(n)
      val isNear = above - below <= below / Rational(1L << 52)
      isAround && isNear && Power.root(-x.abs, n) == ((-above, -below))
    }
  }

  property("a power of reals: x ∈ A gives x^n ∈ A^n, and with x^n ∈ R, x ∈ backward(R)") {
    forAll(cases { random =>
      val x = double(random); (x, around(Some(x), random), random.nextInt(4) + 2)
    }) { case (x, own, n) =>
      val power = Power.Whole(n)
      val y = number(x).power(n)
      val result = IntervalSet.closed(y, y + Rational.One)
      power.forward(Vector(own.values)).contains(y) &&
      power.backward(result, Vector(own.values), 0).contains(number(x))
    }
  }
}

object ElementaryLaws {

  /** An argument in a set, and for each value of the function a set around that. */
  final case class Single(x: Value, own: Possible, values: Seq[(Value, Possible)])

  /** As [[Single]], of two arguments. */
  final case class Pair(
      xs: (Value, Value),
      own: IndexedSeq[Possible],
      values: Seq[(Value, Possible)]
  )
}
