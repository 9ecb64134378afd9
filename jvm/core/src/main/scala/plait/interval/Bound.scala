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
    case Unbounded => Unbounded
    case Closed(at) => Closed(f(at))
    case Open(at) => Open(f(at))
  }

  def isBounded: Boolean = this != Unbounded
}

object Bound {
  case object Unbounded extends Bound[Nothing]
  final case class Closed[+E](at: E) extends Bound[E]
  final case class Open[+E](at: E) extends Bound[E]

  /** The end of a sum: bounded if both are, and open if one of them is (`x < 3`, `y <= 4` give `x +
    * y < 7`).
    */
  def combine[E](a: Bound[E], b: Bound[E])(f: (E, E) => E): Bound[E] = (a, b) match {
    case (Unbounded, _) | (_, Unbounded) => Unbounded
    case (Closed(x), Closed(y)) => Closed(f(x, y))
    case (Closed(x), Open(y)) => Open(f(x, y))
    case (Open(x), Closed(y)) => Open(f(x, y))
    case (Open(x), Open(y)) => Open(f(x, y))
  }
}
