// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import org.scalacheck.Gen

import plait.interval._

/** One value of a term, as SQL has it, and random sets of possible values around it.
  *
  * {{{
  * Value.Number(5/2)     Value.Null     Value.NaN, which is equal to itself and above all numbers
  * }}}
  */
sealed trait Value
object Value {
  case object Null extends Value
  case object NaN extends Value
  final case class Number(x: Rational) extends Value

  val True: Value = Number(Rational.One)
  val False: Value = Number(Rational.Zero)

  def truth(is: Boolean): Value = if (is) True else False
  def of(x: Long): Value = Number(Rational(x))
  def of(x: Double): Value = if (x.isNaN) NaN else Number(Doubles.number(x))
  def of(x: Float): Value = if (x.isNaN) NaN else Number(Doubles.number(x))

  /** Of two values that are not NULL. */
  def compare(a: Value, b: Value): Int = (a, b) match {
    case (Number(x), Number(y)) => x.compare(y)
    case (NaN, NaN) => 0
    case (NaN, _) => 1
    case _ => -1
  }

  def isIn(possible: Possible, value: Value): Boolean = value match {
    case Null => possible.mayBeNull
    case NaN => possible.mayBeNaN
    case Number(x) => possible.contains(x)
  }

  /** NULL now and then, else one of these. */
  def orNull(values: Gen[Value]): Gen[Value] = Gen.frequency(8 -> values, 1 -> Gen.const(Null))

  /** A set that holds the value, and others of the domain whose ends are such values. */
  def around(value: Value, domain: Domain, others: Gen[Value]): Gen[Possible] = {
    val ends = others.map { case Number(x) => x; case _ => Rational.Zero }
    val values = value match {
      case Number(x) => Sets.around(x, ends)
      case _ => Gen.frequency(1 -> Gen.const(IntervalSet.Empty), 2 -> Sets.set(ends))
    }
    for {
      set <- values
      isExact <- Gen.oneOf(true, false, false)
      mayBeNull <- Gen.oneOf(true, false, false)
      mayBeNaN <- Gen.oneOf(true, false, false)
    } yield {
      val special = value match {
        case Null => Specials.Null
        case NaN => Specials.NaN
        case _ => Specials.None
      }
      val exactly = value match {
        case Number(x) if isExact => IntervalSet.point(x)
        case _ => set
      }
      val nulls = if (mayBeNull) Specials.Null else Specials.None
      val nans = if (mayBeNaN && domain.hasNaN) Specials.NaN else Specials.None
      Possible(domain.tighten(exactly.intersect(domain.everything)), special | nulls | nans)
    }
  }
}
