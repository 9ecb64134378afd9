// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Truth._
import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval._

/** A comparison as an operation: its result is TRUE, FALSE or NULL.
  *
  * {{{
  *   a <  b TRUE    ⇒   a < the greatest b,   b > the least a
  *   a <  b FALSE   ⇒   a >= the least b,     b <= the greatest a
  *   a =  b TRUE    ⇒   a ∈ B,                b ∈ A
  * }}}
  *
  * Conventions:
  *   1. NaN is equal to NaN and above every number, infinity too.
  *   2. NULL on either side gives NULL. So a comparison that is not NULL rejects NULL on both.
  */
final case class Compared(comparison: Comparison) extends NullIntolerant {
  import Compared._
  private val holding = relationsOf(comparison)
  private val holdingMirrored = relationsOf(comparison.mirrored)

  def name: String = comparison.toString
  def domain: Domain = Domain.Boolean

  override def forward(arguments: IndexedSeq[Possible]): Possible = {
    val a = arguments(0)
    val b = arguments(1)
    val found = relations(a, b)
    Truth.of(
      isTrue = (found & holding) != 0,
      isFalse = (found & ~holding) != 0,
      isNull = a.mayBeNull || b.mayBeNull
    )
  }

  override def backward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val own = arguments(index)
    val other = arguments(1 - index)
    val isTrue = result.mayBeTrue
    val isFalse = result.mayBeFalse
    if (result.mayBeNull && other.mayBeNull) own
    else if (isTrue && isFalse) { if (result.mayBeNull) own else own.withoutNull }
    else {
      val which = if (index == 0) holding else holdingMirrored
      val wanted = if (isTrue) which else if (isFalse) Any & ~which else None
      if (isSo(wanted, own, other)) own
      else {
        val allowed = related(wanted, other)
        own.intersect(if (result.mayBeNull) allowed.withNull else allowed)
      }
    }
  }
}

object Compared {

  /** How one value may stand to another: a set of relations is a sum of these. */
  final private val Below = 1
  final private val Same = 2
  final private val Above = 4
  final private val None = 0
  final private val AtMost = Below | Same
  final private val AtLeast = Above | Same
  final private val Any = Below | Same | Above

  private def relationsOf(comparison: Comparison): Int = comparison match {
    case Comparison.Less => Below
    case Comparison.AtMost => AtMost
    case Comparison.Greater => Above
    case Comparison.AtLeast => AtLeast
    case Comparison.Equal => Same
    case Comparison.NotEqual => Below | Above
  }

  /** How a value of `a` may stand to one of `b`. */
  private def relations(a: Possible, b: Possible): Int =
    (if (mayBeBelow(a, b)) Below else None) |
      (if (mayBeSame(a, b)) Same else None) |
      (if (mayBeBelow(b, a)) Above else None)

  private def mayBeSame(a: Possible, b: Possible): Boolean =
    (a.mayBeNaN && b.mayBeNaN) || a.values.meets(b.values)

  private def mayBeBelow(a: Possible, b: Possible): Boolean =
    a.values.nonEmpty && (b.mayBeNaN || (b.values.nonEmpty && isBelow(
      a.values.lower,
      b.values.upper
    )))

  private def isBelow(lower: Bound[Rational], upper: Bound[Rational]): Boolean =
    !lower.isBounded || !upper.isBounded || Bound.at(lower) < Bound.at(upper)

  /** Are these nothing but numbers, and does each stand so to the furthest number of `other`? */
  private def isSo(relations: Int, own: Possible, other: Possible): Boolean =
    own.specials.isEmpty && own.values.nonEmpty && other.values.nonEmpty &&
      (relations match {
        case Below | AtMost => isEndBelow(own.values.upper, other.values.upper)
        case Above | AtLeast => isEndBelow(other.values.lower, own.values.lower)
        case _ => false
      })

  private def isEndBelow(a: Bound[Rational], b: Bound[Rational]): Boolean =
    a.isBounded && b.isBounded && Bound.at(a) < Bound.at(b)

  private val numbers = Possible.in(IntervalSet.All)
  private val numbersOrNaN = Possible(IntervalSet.All, Specials.NaN)

  /** All that stands so to some value of `other`. */
  private def related(relations: Int, other: Possible): Possible = relations match {
    case None => Possible.Nothing
    case Same => other.withoutNull
    case Below => below(other, isSameToo = false)
    case Above => above(other, isSameToo = false)
    case AtMost => below(other, isSameToo = true)
    case AtLeast => above(other, isSameToo = true)
    case _ => below(other, isSameToo = false).union(above(other, isSameToo = false))
  }

  private def below(other: Possible, isSameToo: Boolean): Possible =
    if (other.mayBeNaN) { if (isSameToo) numbersOrNaN else numbers }
    else if (other.values.isEmpty) Possible.Nothing
    else {
      val end = other.values.upper
      Possible.in(IntervalSet.span(Unbounded, if (isSameToo) end else opened(end)))
    }

  private def above(other: Possible, isSameToo: Boolean): Possible =
    if (other.values.isEmpty) { if (isSameToo) other.withoutNull else Possible.Nothing }
    else {
      val end = other.values.lower
      Possible(
        IntervalSet.span(if (isSameToo) end else opened(end), Unbounded),
        Specials.NaN
      )
    }

  private def opened(bound: Bound[Rational]): Bound[Rational] =
    bound match {
      case Closed(x) => Open(x)
      case other => other
    }
}

/** `a <=> b`: equality that takes NULL for a value; never NULL itself. */
case object NullSafeEqual extends Operation {
  def name: String = "<=>"
  def domain: Domain = Domain.Boolean

  override def forward(arguments: IndexedSeq[Possible]): Possible = {
    val (a, b) = (arguments(0), arguments(1))
    Truth.of(
      isTrue = !a.intersect(b).isNothing,
      isFalse = !(isOne(a) && isOne(b) && a == b),
      isNull = false
    )
  }

  override def backward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val (own, other) = (arguments(index), arguments(1 - index))
    (result.mayBeTrue, result.mayBeFalse) match {
      case (true, true) => own
      case (true, false) => own.intersect(other)
      case (false, true) if isOne(other) =>
        Possible(own.values.minus(other.values), own.specials.without(other.specials))
      case (false, true) => own
      case (false, false) => Possible.Nothing
    }
  }

  private def isOne(a: Possible): Boolean =
    if (a.specials.isEmpty) a.values.single.isDefined
    else a.values.isEmpty && a.specials.names.size == 1
}
