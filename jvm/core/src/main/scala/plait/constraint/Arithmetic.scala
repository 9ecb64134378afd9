// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.interval.Bound.Unbounded
import plait.interval.Domain.Floating
import plait.interval._

/** What a type does with a result that it cannot hold.
  *
  * {{{
  * 100 + 100 of bytes      Fails none      GivesNull NULL      Wraps -56      Saturates 127
  * }}}
  *
  * Conventions:
  *   1. It is a property of each expression, not of the session: a view or a function keeps the mode it was
  *      made in.
  *   2. ANSI mode fails, TRY gives NULL, legacy mode wraps integers and gives NULL for decimals.
  *   3. Intervals fail in legacy mode too. Floating numbers never overflow: they become infinite.
  *   4. What fails has no value: it is in no set, and a row for which the condition fails matches nothing.
  */
sealed trait Overflow
object Overflow {

  /** ANSI mode: an error. */
  case object Fails extends Overflow

  /** TRY mode, and decimals in legacy mode: NULL. */
  case object GivesNull extends Overflow

  /** Integers in legacy mode: the low bits. */
  case object Wraps extends Overflow

  /** Casts of floating numbers to integers in legacy mode: the nearest value; 0 for NaN. */
  case object Saturates extends Overflow
}

/** A [[RealOperation]] on the numbers of one domain, with a result in one: exact, then rounded, then
  * cut to what fits.
  *
  * {{{
  * forward      exact ──round──> on the grid ──overflow──> in the domain
  * backward     exact <─unround── on the grid <─────────── in the domain
  *
  * [100, 120] + [10, 20] of bytes     Fails [110, 127]    GivesNull [110, 127] or NULL
  *                                    Wraps [110, 127] ∪ [-128, -116]
  * a + 100 = -120 of bytes            Wraps a = 36: the exact sum is -120 or 136, and a is no -220
  * 3000D + x = 1e20D                  the sum is within 8192 of 1e20, then x is within 8192 of 1e20 - 3000
  * }}}
  *
  * Conventions:
  *   1. NULL in any argument gives NULL.
  *   2. What is undefined (`1 / 0`) is an error where overflow is one, and NULL elsewhere.
  *   3. A wrapped result is the exact one but for some [[Turns]], of which the arguments allow a few
  *      or too many to tell.
  *   4. Floating arguments may be infinite or NaN. An end at infinity is no end in exact
  *      arithmetic: all numbers from `2^1024` on stand for a double's infinity, on the way up and on
  *      the way back. Where NaN may come out is [[Specials]].
  *
  * @param from
  *   what the arguments are
  */
final case class Arithmetic(
    operation: RealOperation,
    from: Domain,
    domain: Domain,
    overflow: Overflow
) extends NullIntolerant {
  def name: String = operation.name

  /** Convention 3; asked for only of types that have ends. */
  private lazy val turns = Turns(domain.everything)

  /** Where a division by 0 is NULL, the dividend is not looked at: it may fail, and there is a value. */
  override def evaluates(result: Possible, arguments: IndexedSeq[Possible], index: Int): Boolean =
    super.evaluates(result, arguments, index) && !(index == 0 && arguments.size == 2 &&
      result.mayBeNull && overflow != Overflow.Fails && isUndefined(exact(arguments)))

  /** Nothing but numbers and NULL goes in, and comes out. */
  private val isPlain = overflow == Overflow.Fails && !from.hasNaN && !domain.hasNaN

  override def forward(arguments: IndexedSeq[Possible]): Possible =
    if (isPlain) {
      val rounded = domain.round(operation.forward(new Arithmetic.Sets(arguments)))
      val isNull = Specials.among(arguments).hasNull
      Possible(rounded.intersect(domain.everything), specials(isNull, isNaN = false))
    } else forwardWithSpecials(arguments)

  private def forwardWithSpecials(arguments: IndexedSeq[Possible]): Possible = {
    val sets = exact(arguments)
    val seen = Specials.among(arguments)
    val nulls = seen.hasNull || nansGiveNull(arguments) ||
      (overflow != Overflow.Fails && isUndefined(sets))
    val rounded = domain.round(operation.forward(sets))
    val fits = rounded.intersect(domain.everything)
    val hasOverflow = !domain.hasNaN && (fits ne rounded) && !rounded.subsetOf(domain.everything)
    val values =
      if (!hasOverflow) fits
      else
        overflow match {
          case Overflow.Fails | Overflow.GivesNull => fits
          case Overflow.Wraps => turns.held(rounded)
          case Overflow.Saturates => saturated(rounded)
        }
    val isMissing = nulls || (hasOverflow && overflow == Overflow.GivesNull)
    val zero =
      if (overflow == Overflow.Saturates && !domain.hasNaN && seen.hasNaN)
        IntervalSet.point(Rational.Zero)
      else IntervalSet.Empty
    Possible(values.union(zero), specials(isMissing, isNaN(arguments)))
  }

  override def backward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible =
    if (isPlain) plainBackward(result, arguments, index)
    else backwardWithSpecials(result, arguments, index)

  private def plainBackward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val own = arguments(index)
    if (result.mayBeNull && Specials.among(arguments, index).hasNull) own
    else {
      val kept = specials(result.mayBeNull, isNaN = false) & own.specials
      val source = domain.unround(result.values)
      val values =
        own.values.intersect(operation.backward(source, new Arithmetic.Sets(arguments), index))
      if ((values eq own.values) && kept == own.specials) own else Possible(values, kept)
    }
  }

  private def backwardWithSpecials(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val own = arguments(index)
    val sets = exact(arguments)
    val others = Specials.among(arguments, index)
    if (result.mayBeNull && (others.hasNull || givesNull(sets, arguments))) own
    else {
      val kept = specials(result.mayBeNull, mayComeFromNaN(result)) & own.specials
      val values =
        if (result.mayBeNaN && (others.hasNaN || makesNaN(sets))) own.values
        else
          own.values.intersect(held(operation.backward(source(result.values, sets), sets, index)))
      if ((values eq own.values) && kept == own.specials) own else Possible(values, kept)
    }
  }

  /** Could the result be NULL although no argument is? */
  private def givesNull(sets: IndexedSeq[IntervalSet], arguments: IndexedSeq[Possible]): Boolean =
    overflow != Overflow.Fails &&
      (isUndefined(sets) || mayOverflow(sets) || nansGiveNull(arguments))

  /** NaN does not fit a type that has none. */
  private def nansGiveNull(arguments: IndexedSeq[Possible]): Boolean =
    overflow == Overflow.GivesNull && !domain.hasNaN && from.hasNaN &&
      (Specials.among(arguments).hasNaN || makesNaN(exact(arguments)))

  private def mayComeFromNaN(result: Possible): Boolean =
    if (domain.hasNaN) result.mayBeNaN
    else overflow == Overflow.Saturates && result.contains(Rational.Zero)

  /** The exact results that become one of these values. */
  private def source(values: IntervalSet, sets: IndexedSeq[IntervalSet]): IntervalSet = {
    val rounded = domain.unround(values)
    if (overflow == Overflow.Wraps && mayOverflow(sets))
      turns.exact(rounded, domain.round(operation.forward(sets)))
    else if (overflow != Overflow.Saturates || values.isEmpty) rounded
    else {
      val all = domain.everything
      val below =
        if (values.contains(Bound.at(all.lower))) IntervalSet.atMost(Bound.at(all.lower))
        else IntervalSet.Empty
      val above =
        if (values.contains(Bound.at(all.upper))) IntervalSet.atLeast(Bound.at(all.upper))
        else IntervalSet.Empty
      rounded.union(below).union(above)
    }
  }

  private def saturated(rounded: IntervalSet): IntervalSet = {
    val all = domain.everything
    val (least, greatest) = (Bound.at(all.lower), Bound.at(all.upper))
    val low =
      if (rounded.intersect(IntervalSet.below(least)).isEmpty) IntervalSet.Empty
      else IntervalSet.point(least)
    val high =
      if (rounded.intersect(IntervalSet.above(greatest)).isEmpty) IntervalSet.Empty
      else IntervalSet.point(greatest)
    rounded.intersect(all).union(low).union(high)
  }

  private def mayOverflow(sets: IndexedSeq[IntervalSet]): Boolean =
    !domain.hasNaN && !domain.round(operation.forward(sets)).subsetOf(domain.everything)

  private def isUndefined(sets: IndexedSeq[IntervalSet]): Boolean = operation.isPartial(sets)

  private def makesNaN(sets: IndexedSeq[IntervalSet]): Boolean = from match {
    case floating: Floating =>
      operation.makesNaN(sets.map(_.intersect(floating.everything)), floating.infinity)
    case _ => false
  }

  private def isNaN(arguments: IndexedSeq[Possible]): Boolean =
    domain.hasNaN && (Specials.among(arguments).hasNaN || makesNaN(exact(arguments)))

  private def specials(isNull: Boolean, isNaN: Boolean): Specials =
    (if (isNull) Specials.Null else Specials.None) | (if (isNaN) Specials.NaN else Specials.None)

  /** Convention 4. */
  private def exact(arguments: IndexedSeq[Possible]): IndexedSeq[IntervalSet] = from match {
    case floating: Floating => arguments.map(argument => exact(argument.values, floating))
    case _ => new Arithmetic.Sets(arguments)
  }

  private def exact(values: IntervalSet, floating: Floating): IntervalSet = values.flatMap { span =>
    val lower =
      if (span.lower.isBounded && Bound.at(span.lower) <= floating.minusInfinity) Unbounded
      else span.lower
    val upper =
      if (span.upper.isBounded && Bound.at(span.upper) >= floating.infinity) Unbounded
      else span.upper
    if ((lower eq span.lower) && (upper eq span.upper) && values.isOne) values
    else IntervalSet.span(lower, upper)
  }

  /** What the arguments are that exact arithmetic asks for: numbers beyond the infinities stand for
    * them, as in `inf - 1e308 = inf`.
    */
  private def held(numbers: IntervalSet): IntervalSet = from match {
    case floating: Floating =>
      if (numbers.subsetOf(floating.everything)) numbers
      else {
        val infinities = Seq(floating.infinity -> IntervalSet.above(floating.infinity))
          .appended(floating.minusInfinity -> IntervalSet.below(floating.minusInfinity))
          .collect { case (x, beyond) if numbers.meets(beyond) => x }
        if (infinities.isEmpty) numbers else numbers.union(IntervalSet.points(infinities))
      }
    case _ => numbers
  }
}

object Arithmetic {

  /** The numbers of the arguments, read as they are asked for. */
  final private class Sets(arguments: IndexedSeq[Possible])
      extends scala.collection.immutable.AbstractSeq[IntervalSet]
      with IndexedSeq[IntervalSet] {
    override def apply(k: Int): IntervalSet = arguments(k).values
    override def length: Int = arguments.length
  }

  /** Exact arithmetic on integers, which fails where the type cannot hold the result. */
  def exact(operation: RealOperation): Arithmetic =
    Arithmetic(operation, Domain.Integer, Domain.Integer, Overflow.Fails)
}
