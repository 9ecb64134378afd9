// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Term.Variable
import plait.interval.{Domain, Ends, Rational}

/** The end of an interval that differs from row to row: what it is comes from the row's own columns.
  *
  * {{{
  * l.s + 1 > r.s + 5              r.s below        l.s - 4       Affine: integers, exact
  * abs(l.x - r.x) <= 40D          r.x up to        l.x + 40      RealFormula: rounded outward
  * }}}
  */
sealed trait Formula {

  /** How often each variable counts, none of them 0 times. */
  def coefficients: Map[Variable, BigInt]

  /** Those that it is computed from; they may cancel out where nothing is rounded. */
  def variables: Set[Variable] = coefficients.keySet
}

/** A formula `(constant + Σ coefficient * variable) / divisor` of integers, no coefficient 0, in lowest
  * terms.
  *
  * {{{
  * r.s + 5 < l.s + 1           r.s in (-inf, l.s - 4)              (-4 + 1 * l.s) / 1
  * 2 * (l.a - r.b) <= l.c      r.b in [(2 * l.a - l.c) / 2, inf)   with a = 5, c = 3 from 3.5, so from 4
  * }}}
  *
  * Arithmetic on formulas is exact. [[plait.order.Saturating]] says what becomes of it in 64 bits.
  */
final case class Affine(
    constant: BigInt,
    coefficients: Map[Variable, BigInt],
    divisor: BigInt = 1
) extends Formula {
  def evaluate(value: Variable => BigInt): Rational = Rational(
    coefficients.foldLeft(constant) { case (sum, (v, k)) => sum + k * value(v) },
    divisor
  )

  override def toString: String = if (divisor == 1) sum else s"($sum) / $divisor"

  private def sum: String = {
    val parts = coefficients.toSeq.sortBy(_._1.id).map {
      case (v, k) if k == 1 => s"+ $v"
      case (v, k) if k == -1 => s"- $v"
      case (v, k) if k > 0 => s"+ $k * $v"
      case (v, k) => s"- ${-k} * $v"
    }
    val tail =
      if (constant.signum > 0) Seq(s"+ $constant")
      else if (constant.signum < 0) Seq(s"- ${-constant}")
      else Nil
    val all = parts ++ tail
    if (all.isEmpty) "0" else all.mkString(" ").stripPrefix("+ ")
  }
}

object Affine {
  def of(variable: Variable): Affine = Affine(0, Map(variable -> BigInt(1)))

  implicit object Formulas extends Ends[Affine] {
    def constant(x: BigInt): Affine = Affine(x, Map.empty)

    private def lowest(a: Affine): Affine = {
      val common = a.coefficients.values.foldLeft(a.constant.gcd(a.divisor))(_ gcd _)
      if (common == 1) a
      else
        Affine(
          a.constant / common,
          a.coefficients.map { case (v, k) => v -> k / common },
          a.divisor / common
        )
    }

    /** The variables of a formula stand for ranks, and a number of another kind is none. */
    def known(x: Rational, domain: Domain): Option[Affine] = domain match {
      case _: Domain.Whole if x.isWhole => Some(constant(x.numerator))
      case _ => None
    }

    def plus(a: Affine, b: Affine): Affine = {
      val sums = b.coefficients.foldLeft(a.coefficients.map { case (v, k) => v -> k * b.divisor }) {
        case (all, (v, k)) => all.updated(v, all.getOrElse(v, BigInt(0)) + k * a.divisor)
      }
      val constant = a.constant * b.divisor + b.constant * a.divisor
      lowest(Affine(constant, sums.filter(_._2.signum != 0), a.divisor * b.divisor))
    }

    def negate(a: Affine): Affine =
      a.copy(-a.constant, a.coefficients.map { case (v, k) => v -> -k })

    def times(a: Affine, factor: BigInt): Affine = lowest(
      a.copy(a.constant * factor, a.coefficients.map { case (v, k) => v -> k * factor })
    )

    def beyond(a: Affine, domain: Domain): Option[Affine] = domain match {
      case _: Domain.Whole => Some(a)
      case _ => None
    }

    /** What is computed from columns is rounded last, when the row is there. */
    def floorDivide(a: Affine, factor: BigInt): Option[Affine] =
      if (a.coefficients.isEmpty)
        Ends.Numbers.floorDivide(a.constant, factor * a.divisor).map(constant)
      else Some(lowest(a.copy(divisor = a.divisor * factor)))
  }
}

/** A formula of sums over decimals and floating numbers, whose results Spark rounds.
  *
  * {{{
  * l.x - r.x <= 40D      r.x from      Sum(Value(l.x), Minus(Beyond(40, double)))
  *
  *   the difference that Spark rounds to 40 or less is at most     40.000000000000007      Beyond
  *   with l.x = 1e17 the exact end is 99999999999999960, and one
  *   that a double holds and that is not above it                  99999999999999952       Sum
  * }}}
  *
  * Conventions:
  *   1. The tree says *what* is computed. Which way each step is rounded depends on which end of an
  *      interval it is, low or high; see [[plait.order.ReachEnd]].
  *   2. Whatever is infinite, or NaN, or too large on the way gives an end that is too wide, or none.
  *
  * Not promised: that an end is as tight as exact arithmetic makes it.
  */
sealed trait RealFormula extends Formula

object RealFormula {
  final case class Value(variable: Variable) extends RealFormula {
    def coefficients: Map[Variable, BigInt] = Map(variable -> BigInt(1))
    override def toString: String = variable.toString
  }

  /** A number with a greater denominator is read more easily as a double. */
  private val LongestFraction = BigInt(1000000)

  /** A number, the double that is not above it and the one that is not below. */
  final case class Number(x: Rational, below: Double, above: Double) extends RealFormula {
    def isFinite: Boolean = !below.isInfinite && !above.isInfinite
    def coefficients: Map[Variable, BigInt] = Map.empty
    override def toString: String =
      if (x.isWhole) x.toString
      else if (below == above || x.denominator > LongestFraction) below.toString
      else x.toString
  }

  final case class Sum(left: RealFormula, right: RealFormula) extends RealFormula {
    lazy val coefficients: Map[Variable, BigInt] =
      right.coefficients
        .foldLeft(left.coefficients) { case (all, (v, k)) =>
          all.updated(v, all.getOrElse(v, BigInt(0)) + k)
        }
        .filter(_._2.signum != 0)
    override lazy val variables: Set[Variable] = left.variables ++ right.variables
    override def toString: String = plain(right) match {
      case Minus(term) => s"$left - ${inBrackets(plain(term))}"
      case Number(x, _, _) if x.signum == 0 => s"$left"
      case Number(x, below, above) if x.signum < 0 => s"$left - ${Number(-x, -above, -below)}"
      case other => s"$left + $other"
    }
  }

  final case class Minus(child: RealFormula) extends RealFormula {
    lazy val coefficients: Map[Variable, BigInt] = child.coefficients.map { case (v, k) => v -> -k }
    override lazy val variables: Set[Variable] = child.variables
    override def toString: String = plain(child) match {
      case Minus(term) => term.toString
      case Number(x, below, above) => Number(-x, -above, -below).toString
      case other => s"-${inBrackets(other)}"
    }
  }

  /** A positive multiple: a number of days as microseconds. */
  final case class Multiple(child: RealFormula, factor: BigInt) extends RealFormula {
    lazy val coefficients: Map[Variable, BigInt] = child.coefficients.map { case (v, k) =>
      v -> k * factor
    }
    override lazy val variables: Set[Variable] = child.variables
    override def toString: String = s"$factor * ${inBrackets(plain(child))}"
  }

  /** `child * factor` or `child / factor`, for a positive factor that is a double. */
  final case class Scaled(child: RealFormula, factor: Rational, by: Scaled.By) extends RealFormula {

    /** Told by their signs only: no factor is a whole number. */
    lazy val coefficients: Map[Variable, BigInt] = child.coefficients.map { case (v, k) =>
      v -> BigInt(k.signum)
    }
    override lazy val variables: Set[Variable] = child.variables
    override def toString: String =
      s"${inBrackets(plain(child))} $by ${number(factor, Domain.Double)}"
  }
  object Scaled {
    sealed abstract class By(symbol: String) {
      override def toString: String = symbol
    }
    case object Times extends By("*")
    case object Over extends By("/")
  }

  /** What is rounded to the child, in this domain: on its far side, seen from inside the interval. */
  final case class Beyond(child: RealFormula, domain: Domain) extends RealFormula {
    def coefficients: Map[Variable, BigInt] = child.coefficients
    override def variables: Set[Variable] = child.variables
    override def toString: String = child.toString
  }

  /** What a person would have written. */
  private def plain(formula: RealFormula): RealFormula = formula match {
    case Beyond(child, _) => plain(child)
    case Scaled(child, factor, by) =>
      plain(child) match {
        case Number(x, _, _) =>
          number(if (by == Scaled.Times) x * factor else x / factor, Domain.Integer)
        case other => Scaled(other, factor, by)
      }
    case Minus(child) =>
      plain(child) match {
        case Minus(term) => term
        case Number(x, below, above) => Number(-x, -above, -below)
        case other => Minus(other)
      }
    case other => other
  }

  private def inBrackets(formula: RealFormula): String = formula match {
    case sum: Sum => s"($sum)"
    case other => other.toString
  }

  def of(variable: Variable): RealFormula = Value(variable)

  /** @param domain whose infinities the number may be one of */
  def number(x: Rational, domain: Domain): Number = domain match {
    case floating: Domain.Floating if x.abs >= floating.infinity =>
      Number(x, floating.exactly(x), floating.exactly(x))
    case _ =>
      // Beyond the greatest double lies an infinity on one side only.
      val below = Domain.Double.exactly(Domain.Double.down(x))
      val above = Domain.Double.exactly(Domain.Double.up(x))
      Number(x, Math.min(below, Double.MaxValue), Math.max(above, -Double.MaxValue))
  }

  implicit object Formulas extends Ends[RealFormula] {
    def constant(x: BigInt): RealFormula = number(Rational(x), Domain.Integer)
    def known(x: Rational, domain: Domain): Option[RealFormula] = Some(number(x, domain))

    /** Constants come last, and as one where nothing was rounded between them. */
    def plus(a: RealFormula, b: RealFormula): RealFormula = (a, b) match {
      case (x: Number, y: Number) if x.isFinite && y.isFinite => number(x.x + y.x, Domain.Integer)
      case (Sum(c, x: Number), y: Number) if x.isFinite && y.isFinite => plus(c, plus(x, y))
      case _ if a.variables.isEmpty => Sum(b, a)
      case _ => Sum(a, b)
    }
    def negate(a: RealFormula): RealFormula = a match {
      case Minus(child) => child
      case Number(x, below, above) => Number(-x, -above, -below)
      case other => Minus(other)
    }

    def times(a: RealFormula, factor: BigInt): RealFormula = Multiple(a, factor)

    override def product(a: RealFormula, factor: Rational): Option[RealFormula] =
      scaled(a, factor, Scaled.Times)

    override def quotient(a: RealFormula, factor: Rational): Option[RealFormula] =
      scaled(a, factor, Scaled.Over)

    private def scaled(a: RealFormula, factor: Rational, by: Scaled.By) = {
      val exact = number(factor, Domain.Double)
      Option.when(exact.below == exact.above && exact.isFinite)(Scaled(a, factor, by))
    }

    /** Of rounded numbers no quotient is taken; the end is dropped. */
    def floorDivide(a: RealFormula, factor: BigInt): Option[RealFormula] = None
    def beyond(a: RealFormula, domain: Domain): Option[RealFormula] = Some(Beyond(a, domain))
  }
}
