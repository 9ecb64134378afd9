// SPDX-License-Identifier: Apache-2.0
package plait.interval

/** One end of an interval: where it stops, and whether the stopping point belongs to it.
  *
  * As a lower end `Closed(3)` says `3 <= x`, `Open(3)` says `3 < x`, `Unbounded` says nothing. The
  * same three as an upper end say `x <= 3`, `x < 3` and nothing.
  */
sealed trait Bound[+E] {
  import Bound._

  def map[F](f: E => F): Bound[F] = this match {
    case Closed(at) => Closed(f(at))
    case Open(at) => Open(f(at))
    case Unbounded => Unbounded
  }

  def isBounded: Boolean = this ne Unbounded
}

object Bound {
  case object Unbounded extends Bound[Nothing]
  final case class Closed[+E](at: E) extends Bound[E]
  final case class Open[+E](at: E) extends Bound[E]

  def closed[E](at: Option[E]): Bound[E] = at.fold[Bound[E]](Unbounded)(Closed(_))

  /** Where a bound stands that is not missing. */
  def at[E](bound: Bound[E]): E = bound match {
    case closed: Closed[E] => closed.at
    case open: Open[E] => open.at
    case _ => throw new IllegalArgumentException("an unbounded end stands nowhere")
  }

  /** Lower ends from low to high: `-inf`, then `[3`, then `(3`. */
  def lowers[E](implicit order: Ordering[E]): Ordering[Bound[E]] = (a, b) => compare(a, b, -1)

  /** Upper ends from low to high: `3)`, then `3]`, then `+inf`. */
  def uppers[E](implicit order: Ordering[E]): Ordering[Bound[E]] = (a, b) => compare(a, b, 1)

  /** @param missing
    *   where a missing end stands: -1 for lower ends, 1 for upper ones
    */
  private[interval] def compare[E](a: Bound[E], b: Bound[E], missing: Int)(implicit
      order: Ordering[E]
  ): Int =
    if (a eq b) 0
    else if (a eq Unbounded) missing
    else if (b eq Unbounded) -missing
    else {
      val byPlace = order.compare(at(a), at(b))
      if (byPlace != 0) byPlace
      else if (a.getClass eq b.getClass) 0
      else if (a.isInstanceOf[Closed[_]]) missing
      else -missing
    }

  /** The end of a sum: bounded if both are, and open if one of them is (`x < 3`, `y <= 4` give `x +
    * y < 7`).
    */
  def combine[E](a: Bound[E], b: Bound[E])(f: (E, E) => E): Bound[E] =
    if ((a eq Unbounded) || (b eq Unbounded)) Unbounded
    else {
      val sum = f(at(a), at(b))
      if (isOpen(a) || isOpen(b)) Open(sum) else Closed(sum)
    }

  def isOpen(bound: Bound[_]): Boolean = bound.isInstanceOf[Open[_]]
}
