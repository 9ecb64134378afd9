// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.RealFormula
import plait.constraint.RealFormula._
import plait.constraint.Term.Variable
import plait.interval.{Domain, Rational}

/** A [[RealFormula]] ready to be computed for a row: a double that is not inside of the exact end.
  *
  * {{{
  * Sum(Value(l.x), Minus(Beyond(40, double))), Down, l.x = 100      100 - 40.00000000000001 = 59.99999999999999
  * }}}
  *
  * Of equal formulas they are equal: plans are compared by what is in them.
  */
sealed abstract class RealStep extends Serializable {
  def at(values: Array[Long], way: Outward): Double
}

object RealStep {

  /** @param variables where the values stand */
  def of(formula: RealFormula, variables: Seq[Variable]): RealStep = formula match {
    case Value(v) => new OfValue(variables.indexOf(v), RealRank.of(v.domain).get)
    case Number(_, below, above) => new OfNumber(below, above)
    case Sum(l, r) => new OfSum(of(l, variables), of(r, variables))
    case Minus(c) => new Negated(of(c, variables))
    case Multiple(c, factor) => new Times(of(c, variables), factor.toDouble)
    case Scaled(c, factor, Scaled.Times) =>
      new Times(of(c, variables), Domain.Double.exactly(factor))
    case Scaled(c, factor, Scaled.Over) =>
      new Over(of(c, variables), Domain.Double.exactly(factor))
    case Beyond(c, Domain.Float) => new NextFloat(of(c, variables))
    case Beyond(c, _: Domain.Floating) => new Next(of(c, variables))
    case Beyond(c, Domain.Decimal(_, scale)) => new OfSum(of(c, variables), unit(scale))
    case Beyond(c, _) => of(c, variables)
  }

  private def unit(scale: Int): RealStep = {
    val double = Domain.Double
    val unit = double.exactly(double.up(Rational.scaled(1, scale)))
    new OfNumber(-unit, unit)
  }

  final private case class OfValue(index: Int, rank: RealRank) extends RealStep {
    def at(values: Array[Long], way: Outward): Double = rank.value(values(index), way)
  }

  final private case class OfNumber(below: Double, above: Double) extends RealStep {
    def at(values: Array[Long], way: Outward): Double = if (way eq Outward.Down) below else above
  }

  final private case class OfSum(left: RealStep, right: RealStep) extends RealStep {
    def at(values: Array[Long], way: Outward): Double =
      way.add(left.at(values, way), right.at(values, way))
  }

  final private case class Negated(child: RealStep) extends RealStep {
    def at(values: Array[Long], way: Outward): Double = -child.at(values, way.opposite)
  }

  final private case class Times(child: RealStep, factor: Double) extends RealStep {
    def at(values: Array[Long], way: Outward): Double = way.wider(child.at(values, way) * factor)
  }

  final private case class Over(child: RealStep, factor: Double) extends RealStep {
    def at(values: Array[Long], way: Outward): Double = way.wider(child.at(values, way) / factor)
  }

  final private case class Next(child: RealStep) extends RealStep {
    def at(values: Array[Long], way: Outward): Double = way.next(child.at(values, way))
  }

  final private case class NextFloat(child: RealStep) extends RealStep {
    def at(values: Array[Long], way: Outward): Double = way.nextFloat(child.at(values, way))
  }
}
