// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import plait.constraint.Term.{Call, Known}
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.FieldOperation.{Divide, Minus, Negate, Plus, Times}
import plait.interval.{Domain, Possible, Rational}

/** A sum of real numbers, each term of which stands in it once: `c1 * t1 + c2 * t2 + ... + k`.
  *
  * {{{
  * x + x                   2 * x
  * 3 * (x - y) / 2 + y     3/2 * x - 1/2 * y
  * x - x                   0 * x                  NULL where x is NULL
  * }}}
  *
  * Interval arithmetic takes each place of a term for another value: `x + x <= 10` with `x >= 0` would give
  * `x <= 10`. For arithmetic without rounding and overflow only, which is that of [[Domain.Real]].
  *
  * @param factors
  *   in the sequence in which the terms came
  */
final private[translate] case class LinearForm(factors: Seq[(Term, Rational)], constant: Rational) {
  private def *(c: Rational): LinearForm =
    LinearForm(factors.map { case (term, factor) => term -> factor * c }, constant * c)

  private def +(that: LinearForm): LinearForm =
    LinearForm(factors ++ that.factors, constant + that.constant)

  def -(that: LinearForm): LinearForm = this + that * Rational(-1)

  def hasOneTwice: Boolean = terms.size < factors.size

  private def terms: Seq[Term] = factors.map(_._1).distinct

  /** The sum without its constant. */
  def sum: Term = {
    val whole = factors.groupMapReduce(_._1)(_._2)(_ + _)
    terms.map(term => LinearForm.scaled(term, whole(term))).reduceLeft(LinearForm.real(Plus, _, _))
  }

  def term: Term =
    if (constant.signum == 0) sum else LinearForm.real(Plus, sum, LinearForm.known(constant))
}

private[translate] object LinearForm {

  /** The same value, each of its terms once. */
  def collected(term: Term): Term = {
    val form = of(term)
    if (form.hasOneTwice) form.term else term
  }

  def of(term: Term): LinearForm = term match {
    case Constant(k) => LinearForm(Nil, k)
    case Real(Plus, Seq(l, r)) => of(l) + of(r)
    case Real(Minus, Seq(l, r)) => of(l) - of(r)
    case Real(Negate, Seq(c)) => of(c) * Rational(-1)
    case Real(Times, Seq(Constant(k), c)) => of(c) * k
    case Real(Times, Seq(c, Constant(k))) => of(c) * k
    case Real(Divide, Seq(c, Constant(k))) if k.signum != 0 => of(c) * (Rational.One / k)
    case other => LinearForm(Seq(other -> Rational.One), Rational.Zero)
  }

  def known(x: Rational): Term = Known(Possible.only(x), Domain.Real, x.toString)

  private def real(operation: plait.interval.RealOperation, arguments: Term*): Term =
    Call(Arithmetic(operation, Domain.Real, Domain.Real, Overflow.Fails), arguments: _*)

  private def scaled(term: Term, factor: Rational): Term =
    if (factor == Rational.One) term else real(Times, known(factor), term)

  private object Constant {
    def unapply(term: Term): Option[Rational] = term match {
      case Known(possible, Domain.Real, _) if possible.specials.isEmpty => possible.values.single
      case _ => None
    }
  }

  private object Real {
    def unapply(term: Term): Option[(plait.interval.RealOperation, Seq[Term])] = term match {
      case Call(Arithmetic(operation, Domain.Real, Domain.Real, _), arguments) =>
        Some(operation -> arguments)
      case _ => None
    }
  }
}
