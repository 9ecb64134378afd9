// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Term.Variable
import plait.interval.Ends

/** A formula `constant + Σ coefficient * variable` with integer coefficients, none of them 0.
  *
  * It is the end of an interval that differs from row to row: with `l.s` a column of the row at hand,
  * `r.s + 5 < l.s + 1` narrows `r.s` to `(-inf, l.s - 4)`, whose end is `-4 + 1 * l.s`.
  *
  * Arithmetic on formulas is exact. [[plait.order.Saturating]] says what becomes of it in 64 bits.
  */
final case class Affine(constant: BigInt, coefficients: Map[Variable, BigInt]) {
  def evaluate(value: Variable => BigInt): BigInt =
    coefficients.foldLeft(constant) { case (sum, (v, k)) => sum + k * value(v) }

  override def toString: String = {
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

    def plus(a: Affine, b: Affine): Affine = {
      val sums = b.coefficients.foldLeft(a.coefficients) { case (all, (v, k)) =>
        all.updated(v, all.getOrElse(v, BigInt(0)) + k)
      }
      Affine(a.constant + b.constant, sums.filter(_._2.signum != 0))
    }

    def negate(a: Affine): Affine =
      Affine(-a.constant, a.coefficients.map { case (v, k) => v -> -k })

    def times(a: Affine, factor: BigInt): Affine =
      Affine(a.constant * factor, a.coefficients.map { case (v, k) => v -> k * factor })

    /** A quotient of a row's columns is not affine; that of a constant is. */
    def floorDivide(a: Affine, factor: BigInt): Option[Affine] =
      if (a.coefficients.isEmpty) Ends.Numbers.floorDivide(a.constant, factor).map(constant)
      else if ((a.constant +: a.coefficients.values.toSeq).forall(_ % factor == 0))
        Some(Affine(a.constant / factor, a.coefficients.map { case (v, k) => v -> k / factor }))
      else None
  }
}
