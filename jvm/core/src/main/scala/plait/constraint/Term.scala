// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.Side
import plait.interval.Domain

/** An expression over the columns of both sides whose value is an exact integer, or no value.
  *
  * {{{
  * l.s + 3 < r.s + 10      Compare(Less, Add(l.s, 3), Add(r.s, 10))
  * r.t - l.t <= 300        Compare(AtMost, Subtract(r.t, l.t), 300)
  * }}}
  *
  * Two terms that are equal are the same node: the sweeps meet a shared subterm as one.
  *
  * Conventions:
  *   1. A term has *no value* where a column is NULL or where Spark would raise an error or give
  *      NULL for an overflow (ANSI and TRY arithmetic). A comparison with no value is not TRUE.
  *   2. Where it has a value, that value is the exact one. Arithmetic that may wrap around (legacy
  *      mode, `date_add`) is never a node here: whoever makes terms makes a [[Variable]] of it.
  *   3. A `Variable` is a column or any deterministic expression over *one* side; its value is
  *      whatever Spark computes for it, an error counting as no value.
  */
sealed trait Term {

  /** The sides whose columns stand in this term. */
  def sides: Set[Side]

  def children: Seq[Term]

  def holds(target: Term): Boolean = this == target || children.exists(_.holds(target))
}

object Term {

  /** @param id
    *   what the caller knows it by; two variables are the same if id and side are
    */
  final case class Variable(id: String, side: Side, domain: Domain) extends Term {
    def sides: Set[Side] = Set(side)
    def children: Seq[Term] = Nil
    override def toString: String = id
  }

  final case class Constant(value: BigInt) extends Term {
    def sides: Set[Side] = Set.empty
    def children: Seq[Term] = Nil
    override def toString: String = value.toString
  }

  final case class Add(left: Term, right: Term) extends Term with Pair {
    override def toString: String = s"($left + $right)"
  }

  final case class Subtract(left: Term, right: Term) extends Term with Pair {
    override def toString: String = s"($left - $right)"
  }

  final case class Negate(child: Term) extends Term with Single {
    override def toString: String = s"-($child)"
  }

  /** `factor * child`, with a positive factor: a number of days as microseconds. */
  final case class Scale(child: Term, factor: BigInt) extends Term with Single {
    require(factor > 0, s"a scale is positive, not $factor")
    override def toString: String = s"$factor * $child"
  }

  sealed trait Pair { self: Term =>
    def left: Term
    def right: Term
    lazy val sides: Set[Side] = left.sides ++ right.sides
    def children: Seq[Term] = Seq(left, right)
  }

  sealed trait Single { self: Term =>
    def child: Term
    def sides: Set[Side] = child.sides
    def children: Seq[Term] = Seq(child)
  }
}
