// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import scala.collection.mutable
import scala.util.hashing.MurmurHash3

import plait.Side
import plait.interval.{Domain, Possible}

/** An expression over the columns of both sides, as far as it is understood.
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
  *   3. The exact sums and multiples (`Add`, `Subtract`, `Negate`, `Scale`) are what a formula can be
  *      made of, see [[Sweeps]]. All else is a `Call` of an [[Operation]], which knows what its type
  *      does with NULL, overflow, rounding and NaN; the [[Solver]] looks into all of them, the
  *      sweeps into sums that are rounded.
  *   4. A `Variable` is a column or any deterministic expression over *one* side; its value is
  *      whatever Spark computes for it, an error counting as no value.
  */
sealed trait Term {

  /** The sides whose columns stand in this term. */
  def sides: Set[Side]

  def children: Seq[Term]

  /** What its value is one of, if it has one. */
  def domain: Domain

  def holds(target: Term): Boolean = nodes.contains(target)

  /** Itself and all that it holds, each once: a term that is used twice over and over stands in it 2^n times. */
  def nodes: Seq[Term] = {
    val found = mutable.LinkedHashSet.empty[Term]
    def look(term: Term): Unit = if (found.add(term)) term.children.foreach(look)
    look(this)
    found.toSeq
  }

  /** The largest terms in it that are of this side alone and for which `isUsable` holds. */
  def largestOver(side: Side)(isUsable: Term => Boolean): Seq[Term] = {
    val seen = mutable.HashSet.empty[Term]
    val found = Seq.newBuilder[Term]
    def look(term: Term): Unit =
      if (term.sides.contains(side) && seen.add(term)) {
        if (term.sides.size == 1 && isUsable(term)) found += term
        else term.children.foreach(look)
      }
    look(this)
    found.result()
  }
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
    def domain: Domain = Domain.Integer
    override def toString: String = value.toString
  }

  /** What is known beforehand and is no integer: a decimal, a double, a text, TRUE, NULL. */
  final case class Known(possible: Possible, domain: Domain, text: String) extends Term {
    def sides: Set[Side] = Set.empty
    def children: Seq[Term] = Nil
    override def toString: String = text
  }

  /** What is not understood, of which no more is known than `possible`.
    *
    * @param sides
    *   whose rows it looks at; both, where it must not be computed apart from the condition
    */
  final case class Opaque(id: String, sides: Set[Side], domain: Domain, possible: Possible)
      extends Term {
    def children: Seq[Term] = Nil
    override def toString: String = id
  }

  final case class Call(operation: Operation, arguments: IndexedSeq[Term]) extends Term {
    lazy val sides: Set[Side] = arguments.flatMap(_.sides).toSet
    def children: Seq[Term] = arguments
    def domain: Domain = operation.domain
    override lazy val hashCode: Int = 31 * operation.hashCode + arguments.hashCode
    override def toString: String = operation.text(arguments.map(_.toString))
  }

  object Call {
    def apply(operation: Operation, arguments: Term*): Call =
      new Call(operation, arguments.toIndexedSeq)
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

  // Hashes are kept: a deep sum is asked for them at each of its nodes.
  sealed trait Pair { self: Term with Product =>
    def left: Term
    def right: Term
    override lazy val hashCode: Int = MurmurHash3.caseClassHash(self)
    lazy val sides: Set[Side] = left.sides ++ right.sides
    def children: Seq[Term] = Seq(left, right)
    def domain: Domain = Domain.Integer
  }

  sealed trait Single { self: Term with Product =>
    def child: Term
    override lazy val hashCode: Int = MurmurHash3.caseClassHash(self)
    def sides: Set[Side] = child.sides
    def children: Seq[Term] = Seq(child)
    def domain: Domain = Domain.Integer
  }
}
