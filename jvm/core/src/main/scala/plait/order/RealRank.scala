// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.interval.{Domain, Rational}

/** The [[Rank]]s of a numeric domain as doubles, and back, rounded outward.
  *
  * {{{
  * decimal(9, 2)     value(125, Down)      1.2499999999999987      the unit of a rank is 0.01
  *                   rank(1.25, Up)        125
  * double            value(rank(x)) = x
  * bigint            value(2^53 + 1, Up)   2^53 + 2
  * }}}
  *
  * Law: for a value `v` of rank `r`, `value(r, Down) <= v <= value(r, Up)`; and `x <= v` gives `rank(x,
  * Down) <= r`, `v <= x` gives `r <= rank(x, Up)`.
  */
sealed abstract class RealRank extends Serializable {
  def value(rank: Long, way: Outward): Double
  def rank(x: Double, way: Outward): Long
}

object RealRank {

  /** None for domains whose values are not added up. */
  def of(domain: Domain): Option[RealRank] = domain match {
    case _: Domain.Floating => Some(OfFloating)
    case decimal: Domain.Decimal => Some(new OfDecimal(decimal))
    case Domain.Real | Domain.Text => None
    case _: Domain.Whole => Some(OfInteger)
  }

  private case object OfInteger extends RealRank {
    private val Exact = (1L << 53).toDouble
    def value(rank: Long, way: Outward): Double = {
      val x = rank.toDouble
      // 2^53 + 1 is rounded to 2^53.
      if (Math.abs(x) < Exact) x else way.next(x)
    }
    def rank(x: Double, way: Outward): Long = way.integer(x)
  }

  private case object OfFloating extends RealRank {
    def value(rank: Long, way: Outward): Double = Rank.toDouble(rank)
    def rank(x: Double, way: Outward): Long = if (x.isNaN) way.unbounded else Rank.ofDouble(x)
  }

  /** A rank of a long decimal stands for all that begin with its digits. */
  final private case class OfDecimal(domain: Domain.Decimal) extends RealRank {
    private val left = math.max(domain.precision - 18, 0)
    private val unit =
      Domain.Double.exactly(
        Domain.Double.nearest(Rational.scaled(BigInt(10).pow(left), domain.scale))
      )
    private val isExact = left == 0
    def value(rank: Long, way: Outward): Double = {
      val last = if (isExact || way == Outward.Down) 0.0 else 1.0
      way.wider((rank.toDouble + last) * unit)
    }
    def rank(x: Double, way: Outward): Long = {
      val last = if (isExact || way == Outward.Up) 0.0 else 1.0
      way.integer(way.wider(x / unit - last))
    }
  }
}
