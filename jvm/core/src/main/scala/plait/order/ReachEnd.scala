// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.Term.Variable
import plait.constraint.{Affine, RealFormula}
import plait.interval.Bound
import plait.interval.Bound.Open

/** One end of a reach, ready to be computed for a row: `max` (low end) or `min` (high end) of
  * formulas over the ranks of the row's own values, as a closed 64-bit rank.
  *
  * {{{
  * r.s in (l.s - 7, l.s - 4),  l.s = 100        low = 94     high = 95
  * no formulas                                  low = MinValue, high = MaxValue
  * }}}
  *
  * Ranks are integers, so an open end is the next closed one inside it. A formula names its values by
  * index; [[ReachEnd.of]] says whose they are. Asked once a row, so [[at]] allocates nothing.
  */
final case class ReachEnd(toward: ReachEnd.Toward, formulas: Seq[ReachEnd.Formula]) {
  private val each: Array[ReachEnd.Formula] = formulas.toArray

  def at(values: Array[Long]): Long = {
    var end = toward.unbounded
    var i = 0
    // The tightest of the formulas before i.
    while (i < each.length) {
      end = toward.tighter(end, each(i).at(values, toward))
      i += 1
    }
    end
  }
}

object ReachEnd {

  /** Outward for one end: which way sums are rounded and which of two ends is tighter. */
  sealed abstract class Toward {
    def unbounded: Long
    def tighter(a: Long, b: Long): Long
    def add(a: Long, b: Long): Long

    /** The last integer that a closed end lets in. */
    def divide(sum: Long, divisor: Long): Long

    /** The last integer that an open end shuts out. */
    def divideOpen(sum: Long, divisor: Long): Long
    def inside(open: Long): Long

    /** How its doubles are rounded. */
    def outward: Outward
  }

  case object Low extends Toward {
    def unbounded: Long = Long.MinValue
    def tighter(a: Long, b: Long): Long = math.max(a, b)
    def add(a: Long, b: Long): Long = Saturating.addDown(a, b)
    def divide(sum: Long, divisor: Long): Long = Saturating.ceilDown(sum, divisor)
    def divideOpen(sum: Long, divisor: Long): Long = Saturating.floorDown(sum, divisor)
    def inside(open: Long): Long = Saturating.after(open)
    def outward: Outward = Outward.Down
  }

  case object High extends Toward {
    def unbounded: Long = Long.MaxValue
    def tighter(a: Long, b: Long): Long = math.min(a, b)
    def add(a: Long, b: Long): Long = Saturating.addUp(a, b)
    def divide(sum: Long, divisor: Long): Long = Saturating.floorUp(sum, divisor)
    def divideOpen(sum: Long, divisor: Long): Long = Saturating.ceilUp(sum, divisor)
    def inside(open: Long): Long = Saturating.before(open)
    def outward: Outward = Outward.Up
  }

  sealed trait Openness
  object Openness {
    case object Open extends Openness
    case object Closed extends Openness
  }

  /** An end as a function of the ranks of values. */
  sealed trait Formula {
    def at(values: Array[Long], toward: Toward): Long
  }

  /** `(constant + Σ coefficient * value) / divisor`, of integers.
    *
    * @param terms
    *   (index of the value, its coefficient)
    */
  final case class WholeFormula(
      constant: Long,
      terms: Seq[(Int, Long)],
      openness: Openness,
      divisor: Long = 1
  ) extends Formula {
    private val indices: Array[Int] = terms.map(_._1).toArray
    private val factors: Array[Long] = terms.map(_._2).toArray

    def at(values: Array[Long], toward: Toward): Long = {
      var sum = constant
      var i = 0
      // The constant and the summands before i.
      while (i < indices.length) {
        sum = toward.add(sum, Saturating.times(values(indices(i)), factors(i)))
        i += 1
      }
      if (openness == Openness.Open) toward.inside(toward.divideOpen(sum, divisor))
      else toward.divide(sum, divisor)
    }
  }

  /** Computed in doubles, rounded outward, and then the rank of a value of the order's domain. */
  final case class RoundedFormula(step: RealStep, rank: RealRank) extends Formula {
    def at(values: Array[Long], toward: Toward): Long =
      rank.rank(step.at(values, toward.outward), toward.outward)
  }

  /** The end that these bounds make, and the variables whose values it wants, in their sequence. */
  def of(toward: Toward, bounds: Seq[ReachBound]): (ReachEnd, Seq[Variable]) = {
    val variables = bounds.flatMap(_.formula.variables).distinct
    val formulas = bounds.map { bound =>
      bound.formula match {
        case affine: Affine => whole(affine, bound.at, variables)
        case real: RealFormula =>
          RoundedFormula(RealStep.of(real, variables), RealRank.of(bound.target.domain).get)
      }
    }
    (ReachEnd(toward, formulas), variables)
  }

  private def whole(formula: Affine, at: Bound[_], variables: Seq[Variable]) = {
    val terms = formula.coefficients.toSeq.map { case (v, k) => (variables.indexOf(v), k.toLong) }
    // Values that differ may have one rank: then what is beyond an open end is not known.
    val isOpen = at.isInstanceOf[Open[_]] &&
      formula.coefficients.keys.forall(v => Rank.of(v.domain).forall(_.isExact))
    val openness = if (isOpen) Openness.Open else Openness.Closed
    WholeFormula(
      Saturating.constantOf(formula.constant),
      terms,
      openness,
      formula.divisor.toLong
    )
  }
}
