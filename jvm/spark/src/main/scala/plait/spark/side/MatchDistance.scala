// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import plait.BySide
import plait.spark.translate.{BestMatch, OrderValue}

/** How far apart two match values are; to be compared, not to be shown.
  *
  * {{{
  * BIGINT -2^63, 2^63 - 1       2^64 - 1, as an unsigned number
  * DOUBLE 1.5, -1.5             3.0         NaN, NaN   0.0        NaN, 1.0   infinity
  * DECIMAL(38, 2)               as a BigDecimal
  * }}}
  *
  *   1. Times are instants, dates days, intervals microseconds or months. Of these, of whole numbers and of
  *      decimals distances are exact.
  *   1. Those of DOUBLE and FLOAT are rounded to a double, as Spark rounds l - r: 1.0 is as far from 1e16 as
  *      2.0 is. Along the order of the values they never fall, so the next to either side is a nearest of its
  *      side; which side wins is decided by the rounded distances, and a tie is the earlier's.
  *   1. An infinity is infinitely far from all but itself, and so is NaN. Two numbers never are, also where
  *      l - r overflows; of one left row only one side can lie so far, so one greatest distance is enough.
  */
sealed abstract class MatchDistance extends Serializable {
  type Distance
  def of(left: InternalRow, right: InternalRow): Distance

  def isNearer(a: Distance, b: Distance): Boolean
  def isZero(distance: Distance): Boolean
}

object MatchDistance {

  /** Have values of this type a distance? */
  def exists(dataType: DataType): Boolean =
    dataType != BooleanType && (OrderValue.isWhole(dataType) || dataType.isInstanceOf[DecimalType])

  def of(best: BestMatch, outputs: BySide[Seq[Attribute]]): MatchDistance =
    best.right.dataType match {
      case FloatType | DoubleType => new Real(values(best, outputs)(Cast(_, DoubleType)))
      case t: DecimalType if !OrderValue.isWhole(t) =>
        new Long128(values(best, outputs)(identity), t.precision, t.scale)
      case _ => new Whole(values(best, outputs)(OrderValue(_)))
    }

  private def values(best: BestMatch, outputs: BySide[Seq[Attribute]])(
      f: Expression => Expression
  ): BySide[UnsafeProjection] = BySide(
    UnsafeProjection.create(Seq(f(best.left)), outputs.left),
    UnsafeProjection.create(Seq(f(best.right)), outputs.right)
  )

  final private class Whole(value: BySide[UnsafeProjection]) extends MatchDistance {
    override type Distance = Long
    override def of(left: InternalRow, right: InternalRow): Long = {
      val l = value.left(left).getLong(0)
      val r = value.right(right).getLong(0)
      if (l >= r) l - r else r - l
    }
    override def isNearer(a: Long, b: Long): Boolean = java.lang.Long.compareUnsigned(a, b) < 0
    override def isZero(distance: Long): Boolean = distance == 0
  }

  final private class Real(value: BySide[UnsafeProjection]) extends MatchDistance {
    override type Distance = Double
    override def of(left: InternalRow, right: InternalRow): Double = {
      val l = value.left(left).getDouble(0)
      val r = value.right(right).getDouble(0)
      if (l == r || (l.isNaN && r.isNaN)) 0.0
      else if (isFinite(l) && isFinite(r)) math.min(math.abs(l - r), Double.MaxValue)
      else Double.PositiveInfinity
    }
    private def isFinite(value: Double) = !value.isNaN && !value.isInfinite
    override def isNearer(a: Double, b: Double): Boolean = a < b
    override def isZero(distance: Double): Boolean = distance == 0
  }

  final private class Long128(value: BySide[UnsafeProjection], precision: Int, scale: Int)
      extends MatchDistance {
    override type Distance = java.math.BigDecimal
    override def of(left: InternalRow, right: InternalRow): java.math.BigDecimal = {
      val l = value.left(left).getDecimal(0, precision, scale).toJavaBigDecimal
      val r = value.right(right).getDecimal(0, precision, scale).toJavaBigDecimal
      l.subtract(r).abs
    }
    override def isNearer(a: java.math.BigDecimal, b: java.math.BigDecimal): Boolean =
      a.compareTo(b) < 0
    override def isZero(distance: java.math.BigDecimal): Boolean = distance.signum == 0
  }
}
