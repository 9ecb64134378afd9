// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.interval.Bound.Unbounded
import plait.interval._

/** A function of one double as an operation: what it makes of numbers, and of NULL, NaN and the
  * arguments that it is not defined for.
  *
  * {{{
  * sqrt of [-1, 4]            [0, 2] or NaN
  * ln of [0, 1]               [-744.44..., 0] or NULL
  * sin of [0, inf]            [-1, 1] or NaN
  *
  * sqrt(x) >= 2, true of NaN too      x ∈ [-inf, 0) ∪ [4, inf] or NaN
  * }}}
  *
  * Conventions:
  *   1. NULL gives NULL, NaN gives NaN.
  *   2. What it is not defined for gives NaN, or NULL: the logarithms.
  *   3. The infinities are arguments like others: `exp(-inf)` is 0, `sin(inf)` is NaN.
  *
  * @param outside
  *   what comes of an argument that the function is not defined for
  */
final case class Elementary(function: ElementaryFunction, outside: Specials) extends Operation {
  import Elementary._

  def name: String = function.name
  def domain: Domain = Domain.Double

  override def forward(arguments: IndexedSeq[Possible]): Possible = {
    val own = arguments(0)
    val xs = Domain.Double.tighten(own.values)
    val inside = Domain.Double.tighten(xs.intersect(function.defined))
    val missing = if (xs.subsetOf(function.defined)) Specials.None else outside
    Possible(within(function.forward(endless(inside))), own.specials | missing)
  }

  override def backward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val own = arguments(0)
    val xs = Domain.Double.tighten(own.values)
    val inside = Domain.Double.tighten(xs.intersect(function.defined))
    val kept = inside.intersect(function.backward(endless(result.values), endless(inside)))
    val missing =
      if ((result.specials & outside).isEmpty) IntervalSet.Empty else xs.minus(function.defined)
    Possible(kept.union(missing), own.specials & result.specials)
  }
}

object Elementary {

  /** By the names of Spark; `log` of one argument is `ln`. */
  val named: Map[String, Elementary] = MathLibrary.all.map { function =>
    val outside = if (logarithms(function.name)) Specials.Null else Specials.NaN
    function.name -> Elementary(function, outside)
  }.toMap

  private def logarithms: Set[String] = Set("ln", "log2", "log10", "log1p")

  /** The ends at infinity are none in exact arithmetic. */
  private[constraint] def endless(values: IntervalSet): IntervalSet = values.flatMap { span =>
    val infinity = Domain.Double.infinity
    def end(bound: Bound[Rational], isBeyond: Rational => Boolean) =
      if (bound.isBounded && isBeyond(Bound.at(bound))) Unbounded else bound
    IntervalSet.span(end(span.lower, _ <= -infinity), end(span.upper, _ >= infinity))
  }

  private[constraint] def within(values: IntervalSet): IntervalSet =
    values.intersect(Domain.Double.everything)
}
