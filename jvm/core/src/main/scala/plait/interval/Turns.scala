// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.Unbounded

/** Integers of so many bits as a circle: what is beyond one end comes in again at the other.
  *
  * {{{
  * bytes     [120, 130] is held as          [120, 127] ∪ [-128, -126]
  *           held is [1, 3], exact in [0, 300]     exact is [1, 3] ∪ [257, 259]
  *           held is [1, 3], exact in [0, 9000]    not known: that is more than four turns
  * }}}
  *
  * A whole number and what is held of it differ by some turns, each as long as the circle.
  *
  * @param circle
  *   all values that are held
  */
final private[plait] case class Turns(circle: IntervalSet) {
  private val first = Bound.at(circle.lower)
  private val length = Bound.at(circle.upper) - first + Rational.One

  /** A superset of what is held of these whole numbers. */
  def held(exact: IntervalSet): IntervalSet = between(exact) match {
    case None => circle
    case Some(turns) => union(turns)(turn => shifted(exact, -turn).intersect(circle))
  }

  /** A superset of those of `exact` of which a value in `values` is held. */
  def exact(values: IntervalSet, exact: IntervalSet): IntervalSet = between(exact) match {
    case None => exact
    case Some(turns) => union(turns)(turn => shifted(values, turn).intersect(exact))
  }

  /** How many times these numbers may be around the circle; none if there are too many. */
  private def between(exact: IntervalSet): Option[Seq[BigInt]] =
    if (exact.isEmpty) Some(Nil)
    else if ((exact.lower eq Unbounded) || (exact.upper eq Unbounded)) None
    else {
      val least = turn(Bound.at(exact.lower))
      val most = turn(Bound.at(exact.upper))
      if (most - least >= IntervalSet.Most) None else Some(least to most)
    }

  private def turn(x: Rational): BigInt = ((x - first) / length).floor

  private def shifted(set: IntervalSet, turns: BigInt): IntervalSet =
    RealOperation.sum(set, IntervalSet.point(Rational(turns) * length))

  private def union(turns: Seq[BigInt])(f: BigInt => IntervalSet): IntervalSet =
    turns.map(f).foldLeft(IntervalSet.Empty)(_ union _)
}
