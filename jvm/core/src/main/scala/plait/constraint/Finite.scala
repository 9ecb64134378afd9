// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.interval.{Domain, IntervalSet, Possible, Specials}

/** A floating number as it is; NULL for NaN and the infinities, whatever the evaluation mode. So Spark
  * begins its casts of floating numbers to decimals, and its legacy ones to timestamps.
  *
  * {{{
  * finite of [1, inf] or NaN         [1, inf) or NULL
  * finite(x) ∈ [1, 2]            ⇒   x ∈ [1, 2]
  * finite(x) ∈ [1, 2] or NULL    ⇒   x ∈ [1, 2], or infinite, NaN or NULL
  * }}}
  */
final case class Finite(domain: Domain.Floating) extends NullIntolerant {
  private val infinities = IntervalSet.points(Seq(domain.minusInfinity, domain.infinity))

  def name: String = "finite"

  override def forward(arguments: IndexedSeq[Possible]): Possible = {
    val x = arguments(0)
    val isNull = !x.specials.isEmpty || x.values.meets(infinities)
    Possible(finite(x.values), if (isNull) Specials.Null else Specials.None)
  }

  override def backward(
      result: Possible,
      arguments: IndexedSeq[Possible],
      index: Int
  ): Possible = {
    val numbers = Possible.in(finite(result.values))
    val others = Possible(infinities, Specials.NullOrNaN)
    arguments(0).intersect(if (result.mayBeNull) numbers.union(others) else numbers)
  }

  private def finite(values: IntervalSet): IntervalSet =
    if (values.meets(infinities)) values.minus(infinities) else values
}
