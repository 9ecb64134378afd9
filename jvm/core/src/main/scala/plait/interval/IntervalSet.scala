// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span

/** A set of numbers: the union of at most four disjoint intervals, from low to high.
  *
  * {{{
  * [1, 3] ∪ (2, 5)           [1, 5)
  * [1, 9] \ [4, 5]           [1, 4) ∪ (5, 9]
  * [1, 2] / [-1, 1]          (-inf, -1] ∪ [1, +inf)
  * }}}
  *
  * Conventions:
  *   1. No interval is empty, and no two of them touch: `[1, 2)` and `[2, 3]` are `[1, 3]`.
  *   2. More than [[IntervalSet.Most]] intervals are *hulled*: the narrowest gaps are filled, which
  *      only widens. So union, intersection and difference are exact up to that number.
  *   3. The line is that of the numbers, without gaps: `(3, 4)` is not empty. What a type makes of
  *      it is [[Domain.tighten]]'s to say.
  */
final class IntervalSet private (one: Span[Rational], several: Vector[Span[Rational]])
    extends Serializable {
  import IntervalSet._

  def spans: Vector[Span[Rational]] = if (isOne) Vector(one) else several

  /** Most sets are of one interval, and computed with as such; `only` is null for others. */
  def isOne: Boolean = one ne null
  private[interval] def only: Span[Rational] = one

  def isEmpty: Boolean = !isOne && several.isEmpty
  def nonEmpty: Boolean = !isEmpty

  def lower: Bound[Rational] = if (isOne) one.lower else several.head.lower
  def upper: Bound[Rational] = if (isOne) one.upper else several.last.upper

  /** The least interval that holds them all. */
  def hull: Interval[Rational] =
    if (isEmpty) Interval.Empty else if (isOne) one else Span(lower, upper)

  def contains(x: Rational): Boolean = if (isOne) one.contains(x) else several.exists(_.contains(x))

  /** Made as one number, both ends being one object. A set that was narrowed to it may say no. */
  def isPoint: Boolean = isOne && (one.lower eq one.upper) && one.lower.isBounded

  /** The one number of a set of one. */
  def single: Option[Rational] = one match {
    case Span(Closed(a), Closed(b)) if a == b => Some(a)
    case _ => None
  }

  /** Is a number in both? */
  def meets(that: IntervalSet): Boolean =
    if (isOne && that.isOne) {
      val a = one
      val b = that.only
      !isApart(a.lower, b.upper) && !isApart(b.lower, a.upper)
    } else intersect(that).nonEmpty

  def intersect(that: IntervalSet): IntervalSet =
    if ((this eq that) || (that eq All)) this
    else if (this eq All) that
    else if (isEmpty || that.isEmpty) Empty
    else if (isOne && that.isOne) {
      val a = one
      val b = that.only
      val lower = if (compareLower(a.lower, b.lower) >= 0) a.lower else b.lower
      val upper = if (compareUpper(a.upper, b.upper) <= 0) a.upper else b.upper
      // What lies in the other is itself: no new set for what says nothing new.
      if ((lower eq a.lower) && (upper eq a.upper)) this
      else if ((lower eq b.lower) && (upper eq b.upper)) that
      else IntervalSet.span(lower, upper)
    } else if (subsetOf(that)) this
    else if (that.subsetOf(this)) that
    else
      IntervalSet.of(for {
        a <- spans
        b <- that.spans
        both <- Interval.intersect(a, b) match {
          case span: Span[Rational] => Vector(span)
          case Interval.Empty => Vector.empty
        }
      } yield both)

  def union(that: IntervalSet): IntervalSet =
    if (isEmpty || (this eq that)) that
    else if (that.isEmpty) this
    else IntervalSet.of(spans ++ that.spans)

  def complement: IntervalSet = {
    val above = spans.map(_.upper).map(opposite)
    val below = spans.map(_.lower).map(opposite)
    // The gaps lie between one interval's upper end and the next one's lower end.
    val froms = Some(Unbounded) +: above
    val tos = below :+ Some(Unbounded)
    IntervalSet.of(froms.zip(tos).collect { case (Some(from), Some(to)) => Span(from, to) })
  }

  def minus(that: IntervalSet): IntervalSet = intersect(that.complement)

  /** Exact: as no two intervals touch, each of these lies in one of those. */
  def subsetOf(that: IntervalSet): Boolean =
    (this eq that) || (that eq All) || {
      if (isOne) that.holdsAll(one) else several.forall(that.holdsAll)
    }

  private def holdsAll(span: Span[Rational]): Boolean =
    if (isOne) isWithin(span, one) else several.exists(isWithin(span, _))

  /** The union of what a function makes of each interval. */
  def flatMap(f: Span[Rational] => IntervalSet): IntervalSet =
    if (isOne) f(one)
    else if (isEmpty) this
    else IntervalSet.of(several.flatMap(f(_).spans))

  override def equals(other: Any): Boolean = other match {
    case that: IntervalSet =>
      (this eq that) ||
      (if (isOne && that.isOne) one == that.only else isOne == that.isOne && spans == that.spans)
    case _ => false
  }
  override def hashCode: Int = spans.hashCode
  override def toString: String = if (isEmpty) "{}" else spans.mkString(" ∪ ")
}

object IntervalSet {
  val Most = 4
  val Empty: IntervalSet = new IntervalSet(null, Vector.empty)
  val All: IntervalSet = new IntervalSet(Span(Unbounded, Unbounded), null)

  def point(x: Rational): IntervalSet = {
    val end = Closed(x); new IntervalSet(Span(end, end), null)
  }
  def closed(from: Rational, to: Rational): IntervalSet = span(Closed(from), Closed(to))
  def atLeast(x: Rational): IntervalSet = span(Closed(x), Unbounded)
  def above(x: Rational): IntervalSet = span(Open(x), Unbounded)
  def atMost(x: Rational): IntervalSet = span(Unbounded, Closed(x))
  def below(x: Rational): IntervalSet = span(Unbounded, Open(x))

  /** Empty if the ends pass each other. */
  def span(from: Bound[Rational], to: Bound[Rational]): IntervalSet =
    if (isApart(from, to)) Empty
    else if ((from eq Unbounded) && (to eq Unbounded)) All
    else new IntervalSet(Span(from, to), null)

  def points(xs: Iterable[Rational]): IntervalSet = of(xs.map(x => Span(Closed(x), Closed(x))))

  /** The union of intervals in any sequence, some of them perhaps empty. */
  def of(intervals: Iterable[Span[Rational]]): IntervalSet = {
    val sorted = intervals.filterNot(isEmpty).toVector.sortWith { (a, b) =>
      compareLower(a.lower, b.lower) < 0
    }
    // What is merged so far is disjoint, and all of it begins no later than what follows.
    val merged = sorted.foldLeft(Vector.empty[Span[Rational]]) {
      case (done :+ last, next) if meet(last.upper, next.lower) =>
        if (compareUpper(last.upper, next.upper) >= 0) done :+ last
        else done :+ Span(last.lower, next.upper)
      case (done, next) => done :+ next
    }
    hulled(merged) match {
      case Vector(one) => span(one.lower, one.upper)
      case several => new IntervalSet(null, several)
    }
  }

  private def compareLower(a: Bound[Rational], b: Bound[Rational]): Int = Bound.compare(a, b, -1)
  private def compareUpper(a: Bound[Rational], b: Bound[Rational]): Int = Bound.compare(a, b, 1)

  private def isEmpty(span: Span[Rational]): Boolean = isApart(span.lower, span.upper)

  /** Is there no number from here to there? */
  private def isApart(from: Bound[Rational], to: Bound[Rational]): Boolean =
    Interval.isEmpty(from, to)

  private def isWithin(a: Span[Rational], b: Span[Rational]): Boolean =
    compareLower(a.lower, b.lower) >= 0 && compareUpper(a.upper, b.upper) <= 0

  /** With the widest gaps alone; of equal ones the last. */
  private def hulled(spans: Vector[Span[Rational]]): Vector[Span[Rational]] =
    if (spans.size <= Most) spans
    else {
      val gaps = (1 until spans.size).sortBy(i => gapBefore(i, spans))
      val begins = (0 +: gaps.takeRight(Most - 1).sorted).toVector
      begins.zip(begins.tail :+ spans.size).map { case (first, next) =>
        Span(spans(first).lower, spans(next - 1).upper)
      }
    }

  private def gapBefore(i: Int, spans: Vector[Span[Rational]]): Rational =
    Bound.at(spans(i).lower) - Bound.at(spans(i - 1).upper)

  /** Is there nothing between an interval's end and a later one's beginning? */
  private def meet(upper: Bound[Rational], lower: Bound[Rational]): Boolean =
    (upper, lower) match {
      case (Unbounded, _) | (_, Unbounded) => true
      case (Open(a), Open(b)) => a > b
      case (a, b) => Bound.at(a) >= Bound.at(b)
    }

  private def opposite(bound: Bound[Rational]): Option[Bound[Rational]] = bound match {
    case Unbounded => None
    case Closed(x) => Some(Open(x))
    case Open(x) => Some(Closed(x))
  }
}
