// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Elementary.{endless, within}
import plait.interval.Exponential._
import plait.interval._

/** `pow(x, c)` of doubles.
  *
  * {{{
  * pow(x, 2)  of [-1, 3]        [0, 9]
  * pow(x, -1) of 0              -infinity or infinity: x may be -0
  * pow(2, c)  of [1, 3]         [2, 8]
  * pow(x, 0)                    1, of NaN too
  * }}}
  *
  * Conventions:
  *   1. With one argument known, but for NULL and NaN, the other is a function's: [[PowerOf]] and,
  *      for positive numbers, [[ExponentialOf]].
  *   2. With none known, positive numbers give what lies between the powers of the ends. Of others
  *      nothing is said, and nothing backward.
  *   3. NULL in any argument gives NULL. NaN gives NaN, but `pow(NaN, 0)` is 1. So do a negative
  *      number with a fractional exponent, and 1 and -1 with an infinite one.
  */
case object PowerOperation extends NullIntolerant {
  def name: String = "pow"
  def domain: Domain = Domain.Double

  private val double = Domain.Double
  private val infinities = IntervalSet.points(Seq(double.infinity, -double.infinity))
  private val minusInfinity = IntervalSet.point(-double.infinity)
  private val zero = IntervalSet.point(Rational.Zero)
  private val one = IntervalSet.point(Rational.One)
  private val ones = IntervalSet.points(Seq(Rational.One, -Rational.One))
  private val notNegative = IntervalSet.closed(Rational.Zero, double.infinity)
  private val positive = double.tighten(IntervalSet.above(Rational.Zero)).minus(infinities)

  private def meet(a: IntervalSet, b: IntervalSet): Boolean = a.intersect(b).nonEmpty

  /** The one exponent there is, if it is a function's. */
  private def exponent(cs: IntervalSet): Option[PowerOf] =
    cs.single.filter(c => c.signum != 0 && !infinities.contains(c)).map(c => PowerOf(of(c)))

  private def base(xs: IntervalSet): Option[ExponentialOf] =
    xs.single.filter(x => positive.contains(x) && x != Rational.One).map(x => ExponentialOf(of(x)))

  private def of(x: Rational): Double =
    Enclosure.of(Interval.Span(Bound.Closed(x), Bound.Closed(x))).below

  override def forward(arguments: IndexedSeq[Possible]): Possible = {
    val (x, c) = (arguments(0), arguments(1))
    val (xs, cs) = (double.tighten(x.values), double.tighten(c.values))
    val values =
      if (xs.isEmpty || cs.isEmpty) IntervalSet.Empty else within(powers(xs, cs))
    val ofNaN = if (x.mayBeNaN && cs.contains(Rational.Zero)) one else IntervalSet.Empty
    val isNull = x.mayBeNull || c.mayBeNull
    val isNaN = (x.mayBeNaN && cs != zero) || c.mayBeNaN || makesNaN(xs, cs)
    Possible(
      values.union(ofNaN),
      (if (isNull) Specials.Null else Specials.None) |
        (if (isNaN) Specials.NaN else Specials.None)
    )
  }

  /** Do numbers give NaN? */
  private def makesNaN(xs: IntervalSet, cs: IntervalSet): Boolean = {
    val isFractional = !cs.single.exists(_.isWhole)
    (isFractional && meet(xs, IntervalSet.below(Rational.Zero)) && cs.nonEmpty) ||
    (meet(xs, ones) && meet(cs, infinities))
  }

  private def powers(xs: IntervalSet, cs: IntervalSet): IntervalSet =
    if (cs == zero || xs == one) one
    else
      exponent(cs)
        .map(power =>
          power.forward(endless(xs.intersect(power.defined))).union(ofInfinity(power, xs))
        )
        .orElse(base(xs).map(_.forward(endless(cs))))
        .getOrElse {
          // pow(-0, -1) is -infinity.
          val isBelowZero = meet(cs, IntervalSet.below(Rational.Zero)) && xs.contains(Rational.Zero)
          if (xs.subsetOf(positive) && !meet(cs, infinities)) between(xs, cs)
          else if (xs.subsetOf(notNegative) && !isBelowZero) notNegative
          else double.everything
        }

  /** The power of -infinity is a number for any exponent; a fractional one has no piece for it. */
  private def ofInfinity(power: PowerOf, xs: IntervalSet): IntervalSet =
    if (!meet(xs, minusInfinity) || power.defined.contains(-double.infinity)) IntervalSet.Empty
    else if (power.exponent > 0) IntervalSet.point(double.infinity)
    else zero

  /** `x^c` is `e^(c ln x)`, whose exponent is least and greatest at the ends of `x` and `c`. */
  private def between(xs: IntervalSet, cs: IntervalSet): IntervalSet = {
    def ends(set: IntervalSet) = Seq(set.lower, set.upper).map(end => of(Bound.at(end)))
    val corners = for { x <- ends(xs); c <- ends(cs) } yield StrictMath.pow(x, c)
    val around = Enclosure(corners.min, corners.max).wider(4)
    Enclosure.span(math.max(around.below, 0), around.above)
  }

  override def backward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val (own, other) = (arguments(index), arguments(1 - index))
    val saysNothing = (result.mayBeNull && other.mayBeNull) || (result.mayBeNaN && other.mayBeNaN)
    if (saysNothing) own
    else if (index == 0) toBase(result, own, double.tighten(other.values))
    else toExponent(result, own, double.tighten(other.values))
  }

  private def toBase(result: Possible, own: Possible, cs: IntervalSet): Possible = {
    val xs = double.tighten(own.values)
    val isOne = cs.contains(Rational.Zero) && result.contains(Rational.One)
    val values = exponent(cs) match {
      case Some(power) =>
        val inside = xs.intersect(power.defined)
        val kept = inside.intersect(power.backward(endless(result.values), endless(inside)))
        val outside = if (result.mayBeNaN) xs.minus(power.defined) else IntervalSet.Empty
        val isInfinity = within(result.values).intersect(ofInfinity(power, xs)).nonEmpty
        val last = if (isInfinity) minusInfinity else IntervalSet.Empty
        kept.union(outside).union(last)
      case None => if (cs == zero && !isOne) IntervalSet.Empty else xs
    }
    val isNaN = result.mayBeNaN || isOne
    val specials = result.specials | (if (isNaN) Specials.NaN else Specials.None)
    Possible(values, own.specials & specials)
  }

  private def toExponent(result: Possible, own: Possible, xs: IntervalSet): Possible = {
    val cs = double.tighten(own.values)
    val values = base(xs) match {
      case Some(exponential) =>
        cs.intersect(exponential.backward(endless(result.values), endless(cs)))
      case None => cs
    }
    Possible(values, own.specials & result.specials)
  }
}

/** `log(base, x)`: the quotient of two logarithms, and NULL where either argument is not positive.
  *
  * {{{
  * log(10, x) of [100, 1000]     [2, 3]
  * log(0.5, x) of [1, 8]         [-3, 0]
  * log(1, x)                     infinities and NaN: a division by 0
  * }}}
  *
  * With a base that is not known, or is 1 or infinite, only NULL and NaN are told.
  */
case object Logarithm extends NullIntolerant {
  def name: String = "log"
  def domain: Domain = Domain.Double

  private val double = Domain.Double
  private val positive =
    IntervalSet.span(Bound.Open(Rational.Zero), Bound.Closed(double.infinity))
  private val plain = positive.minus(IntervalSet.points(Seq(Rational.One, double.infinity)))

  /** The function of `x`, if there is one base; it is NULL outside of what is positive. */
  private def function(bases: IntervalSet): Option[LogarithmOf] =
    bases.single
      .filter(plain.contains)
      .map(b => LogarithmOf(Enclosure.of(Interval.Span(Bound.Closed(b), Bound.Closed(b))).below))

  override def forward(arguments: IndexedSeq[Possible]): Possible = {
    val sets = arguments.map(a => double.tighten(a.values))
    val isNull = arguments.exists(_.mayBeNull) || sets.exists(!_.subsetOf(positive))
    val found = function(sets(0))
    val values =
      if (sets.exists(_.intersect(positive).isEmpty)) IntervalSet.Empty
      else
        found.fold(double.everything) { f =>
          within(f.forward(endless(double.tighten(sets(1).intersect(positive)))))
        }
    val isNaN = arguments.exists(_.mayBeNaN) || (found.isEmpty && values.nonEmpty)
    Possible(
      values,
      (if (isNull) Specials.Null else Specials.None) |
        (if (isNaN) Specials.NaN else Specials.None)
    )
  }

  override def backward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val (own, other) = (arguments(index), arguments(1 - index))
    val others = double.tighten(other.values)
    val isNullByOther = result.mayBeNull && (other.mayBeNull || !others.subsetOf(positive))
    if (isNullByOther) own
    else {
      val set = double.tighten(own.values)
      val inside = double.tighten(set.intersect(positive))
      val outside = if (result.mayBeNull) set.minus(positive) else IntervalSet.Empty
      val isKept = result.mayBeNaN && (other.mayBeNaN || function(others).isEmpty)
      val kept =
        if (index == 0 || isKept) inside
        else
          function(others).fold(inside) { f =>
            inside.intersect(f.backward(endless(result.values), endless(inside)))
          }
      Possible(kept.union(outside), own.specials & result.specials)
    }
  }
}
