// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import java.util.SplittableRandom

import org.scalacheck.Gen

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval._

/** Doubles of all sizes, and sets around them. */
object Doubles {
  private val infinity = Domain.Double.infinity

  val special: IndexedSeq[Double] = {
    val turns = (1 to 8).map(_ * math.Pi / 2) ++ Seq(180.0, 360.0, 1e9, 1e10, 1e22)
    val sizes = Seq(Double.MinPositiveValue, 1e-310, java.lang.Double.MIN_NORMAL, 1e-17, 1e-8) ++
      Seq(0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 9.0, 10.0, 64.0, 100.0, 709.78, 745.13, 1e16, 1e155) ++
      Seq(math.E, 1e300, Double.MaxValue, Double.PositiveInfinity)
    val ends = (turns ++ sizes).flatMap(x => Seq(x, Math.nextUp(x), Math.nextDown(x)))
    (0.0 +: ends).flatMap(x => Seq(x, -x)).toIndexedSeq
  }

  def double(random: SplittableRandom): Double = random.nextInt(8) match {
    case 0 | 1 => special(random.nextInt(special.size))
    case 2 =>
      val x = java.lang.Double.longBitsToDouble(random.nextLong())
      if (x.isNaN) 0 else x
    case 3 => (random.nextInt(2001) - 1000).toDouble
    case 4 => (random.nextDouble() - 0.5) * 2
    case 5 => (random.nextDouble() - 0.5) * 20
    case 6 => (random.nextDouble() - 0.5) * 1500
    case _ => (random.nextInt(41) - 20) / 4.0
  }

  def number(x: Double): Rational =
    if (x.isInfinite) if (x > 0) infinity else -infinity else Rational.of(x)

  /** A double or NULL: None. NaN is a double. */
  type Value = Option[Double]

  def holds(possible: Possible, value: Value): Boolean = value match {
    case None => possible.mayBeNull
    case Some(x) if x.isNaN => possible.mayBeNaN
    case Some(x) => possible.contains(number(x))
  }

  def value(random: SplittableRandom): Value = random.nextInt(40) match {
    case 0 => None
    case 1 => Some(Double.NaN)
    case _ => Some(double(random))
  }

  /** A set with the value in it: an interval, more of them, or nothing but it. */
  def around(value: Value, random: SplittableRandom): Possible = {
    val specials = random.nextInt(6) match {
      case 0 => Specials.Null
      case 1 => Specials.NaN
      case 2 => Specials.NullOrNaN
      case _ => Specials.None
    }
    value match {
      case None => Possible(other(random), specials | Specials.Null)
      case Some(x) if x.isNaN => Possible(other(random), specials | Specials.NaN)
      case Some(x) =>
        val own = IntervalSet.span(end(x, random), upper(x, random))
        Possible(if (random.nextInt(6) == 0) own.union(other(random)) else own, specials)
    }
  }

  private def other(random: SplittableRandom): IntervalSet = random.nextInt(3) match {
    case 0 => IntervalSet.Empty
    case _ =>
      val (a, b) = (number(double(random)), number(double(random)))
      IntervalSet.closed(Rational.min(a, b), Rational.max(a, b))
  }

  private def upper(x: Double, random: SplittableRandom): Bound[Rational] =
    end(-x, random).map(-_)

  /** A lower end for an interval with the number in it. */
  private def end(x: Double, random: SplittableRandom): Bound[Rational] =
    random.nextInt(8) match {
      case 0 | 1 | 2 => Closed(number(x))
      case 3 => near(x, Math.nextDown(x))
      case 4 => near(x, x - math.abs(x) * random.nextDouble())
      case 5 => near(x, x - random.nextDouble() * 5)
      case 6 => Unbounded
      case _ => val y = double(random); near(x, math.min(x, y))
    }

  private def near(x: Double, end: Double): Bound[Rational] =
    if (end.isNaN) Closed(number(x))
    else if (end < x && (number(end).hashCode & 1) == 0) Open(number(end))
    else Closed(number(end))

  /** Many cases from as many seeds. */
  def cases[A](make: SplittableRandom => A): Gen[A] =
    Gen.long.map(seed => make(new SplittableRandom(seed)))
}
