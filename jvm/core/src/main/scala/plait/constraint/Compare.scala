// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.Side

/** One comparison of two terms, as it must hold for a pair of rows to match.
  *
  * A join condition is a conjunction of such comparisons and of parts that are not understood; the
  * latter are left out, which can only widen what is derived. A comparison that meets NULL or no
  * value is not TRUE, so each of these rejects NULL in every column it names.
  */
final case class Compare(op: Comparison, left: Term, right: Term) {

  /** The same as a term, for the [[Solver]]. */
  def term: Term = Term.Call(Compared(op), left, right)

  def sides: Set[Side] = left.sides ++ right.sides
  def holds(target: Term): Boolean = left.holds(target) || right.holds(target)
  override def toString: String = s"$left $op $right"
}

sealed abstract class Comparison(symbol: String) {
  override def toString: String = symbol

  /** `a op b` is `b mirrored a`. */
  def mirrored: Comparison = this match {
    case Comparison.Less => Comparison.Greater
    case Comparison.AtMost => Comparison.AtLeast
    case Comparison.Greater => Comparison.Less
    case Comparison.AtLeast => Comparison.AtMost
    case same => same
  }

  def holds(a: BigInt, b: BigInt): Boolean = this match {
    case Comparison.Less => a < b
    case Comparison.AtMost => a <= b
    case Comparison.Greater => a > b
    case Comparison.AtLeast => a >= b
    case Comparison.Equal => a == b
    case Comparison.NotEqual => a != b
  }
}

object Comparison {
  case object Less extends Comparison("<")
  case object AtMost extends Comparison("<=")
  case object Greater extends Comparison(">")
  case object AtLeast extends Comparison(">=")
  case object Equal extends Comparison("=")
  case object NotEqual extends Comparison("<>")
}
