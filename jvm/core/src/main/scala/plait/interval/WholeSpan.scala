// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Unbounded}

/** A set `{ x integer : lower <= x <= upper }` whose ends are longs, or missing.
  *
  * {{{
  * (3, 7.5)               [4, 7]
  * [3, 2^70]              [3, +inf)             an end that no long can hold is dropped
  * [2^70, 2^71]           [limit, +inf)         or moved inwards, where that only widens
  * }}}
  *
  * Conventions:
  *   1. Calendars and clocks know whole days and whole microseconds only; what lies between two of
  *      them is no value.
  *   2. Ends are within `limit` of 0, so that a caller may add to them what is small beside `2^63 -
  *      limit`, and never overflows.
  */
final private[interval] case class WholeSpan(lower: Option[Long], upper: Option[Long]) {

  /** The ends to compare with: a missing one is the last long. */
  def from: Long = lower.getOrElse(Long.MinValue)
  def to: Long = upper.getOrElse(Long.MaxValue)

  /** The set between what becomes of the ends; a missing one stays missing. */
  def mapEnds(low: Long => Rational, high: Long => Rational): IntervalSet =
    WholeSpan.between(lower.map(low), upper.map(high))
}

private[interval] object WholeSpan {

  /** For values that offsets, and days, are added to. */
  val Limit: Long = Long.MaxValue - (1L << 44)

  /** The union of what a function makes of each interval of integers. */
  def flatMap(set: IntervalSet, limit: Long = Limit)(f: WholeSpan => IntervalSet): IntervalSet =
    Domain.Integer.tighten(set).flatMap { span =>
      val least = Rational(-limit)
      val greatest = Rational(limit)
      def long(x: Rational) = Some(x.numerator.toLong)
      f(
        WholeSpan(
          span.lower match {
            case Unbounded => None
            case bound =>
              val x = Bound.at(bound)
              if (x < least) None else long(Rational.min(x, greatest))
          },
          span.upper match {
            case Unbounded => None
            case bound =>
              val x = Bound.at(bound)
              if (x > greatest) None else long(Rational.max(x, least))
          }
        )
      )
    }

  def between(lower: Option[Rational], upper: Option[Rational]): IntervalSet =
    IntervalSet.span(
      lower.fold[Bound[Rational]](Unbounded)(Closed(_)),
      upper.fold[Bound[Rational]](Unbounded)(Closed(_))
    )
}
