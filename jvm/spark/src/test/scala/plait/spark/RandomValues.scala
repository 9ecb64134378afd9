// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.util.Random

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Random values of a Spark type in Spark's own form: small and near to each other mostly, at the
  * limits, at 0, NULL, NaN and infinite now and then.
  */
final class RandomValues(random: Random) {
  def of(dataType: DataType): Any =
    if (random.nextInt(9) == 0) null else RandomValues.notNull(random, dataType)
}

object RandomValues {
  private val micros = 1000000L

  // Around the changes of clocks: Berlin, New York, St John's (00:01), and Apia's skipped day.
  private val changes = Seq(
    "2026-03-29T01:00:00",
    "2026-10-25T01:00:00",
    "2026-03-08T07:00:00",
    "2010-11-07T02:31:00",
    "2011-12-30T10:00:00"
  ).map(java.time.LocalDateTime.parse(_).toEpochSecond(java.time.ZoneOffset.UTC) * micros)

  def notNull(random: Random, dataType: DataType): Any = dataType match {
    case BooleanType => random.nextBoolean()
    case ByteType => integer(random, Byte.MinValue, Byte.MaxValue).toByte
    case ShortType => integer(random, Short.MinValue, Short.MaxValue).toShort
    case IntegerType => integer(random, Int.MinValue, Int.MaxValue).toInt
    case LongType => integer(random, Long.MinValue, Long.MaxValue)
    case DateType =>
      if (random.nextInt(10) == 0) integer(random, Int.MinValue, Int.MaxValue).toInt
      else 20515 + random.nextInt(80) - 40
    case TimestampType | TimestampNTZType => instant(random)
    case d: DayTimeIntervalType =>
      val length = dayTime(random)
      length - length % fieldOf(d)
    case YearMonthIntervalType(_, field) =>
      val months =
        if (random.nextInt(10) == 0) integer(random, Int.MinValue, Int.MaxValue).toInt
        else random.nextInt(31) - 15
      if (field == YearMonthIntervalType.YEAR) months - months % 12 else months
    case d: DecimalType =>
      val limit = BigInt(10).pow(d.precision) - 1
      val unscaled = random.nextInt(9) match {
        case 8 => (BigInt(10).pow(d.scale) * (1L << (random.nextInt(8) * 8)) - 1) min limit
        case 0 => limit - random.nextInt(3)
        case 1 => -limit + random.nextInt(3)
        case 2 => BigInt(d.precision * 3, random.self) % limit
        case _ => BigInt(random.nextInt(401) - 200) min limit max -limit
      }
      Decimal(BigDecimal(unscaled, d.scale), d.precision, d.scale)
    case DoubleType => floating(random)
    case FloatType => floating(random).toFloat
    case StringType =>
      UTF8String.fromString(
        Seq.fill(random.nextInt(4))("ab\u0001é" (random.nextInt(4))).mkString
      )
    case other => throw new IllegalArgumentException(s"no random values of $other")
  }

  /** What no interval that ends with a smaller field can differ by. */
  private def fieldOf(interval: DayTimeIntervalType): Long = interval.endField match {
    case DayTimeIntervalType.DAY => 86400L * micros
    case DayTimeIntervalType.HOUR => 3600L * micros
    case DayTimeIntervalType.MINUTE => 60L * micros
    case _ => 1L
  }

  private def dayTime(random: Random): Long = {
    val hours = Seq(0, 1, 3, 23, 24, 25, 48, 720)(random.nextInt(8))
    val usual = (if (random.nextBoolean()) 1 else -1) * hours * 3600L * micros
    random.nextInt(10) match {
      case 0 => integer(random, Long.MinValue, Long.MaxValue)
      case 1 => usual + (random.nextInt(200000) - 100000) * 1000L
      case _ => usual + random.nextInt(2)
    }
  }

  private def instant(random: Random): Long = random.nextInt(12) match {
    case 0 => random.nextLong() >> 10
    case 1 => (random.nextInt(400000) - 200000) * 1000L
    case _ =>
      changes(random.nextInt(changes.size)) + (random.nextInt(97) - 48) * 1800L * micros +
        (if (random.nextInt(4) == 0) random.nextInt(3) - 1 else 0)
  }

  private def integer(random: Random, least: Long, greatest: Long): Long =
    random.nextInt(8) match {
      case 0 => greatest - random.nextInt(3)
      case 1 => least + random.nextInt(3)
      case 2 => (random.nextLong() >> random.nextInt(63)) max least min greatest
      case _ => random.nextInt(21) - 10L
    }

  private def floating(random: Random): Double = random.nextInt(13) match {
    case 12 => nearPower(random)
    case 0 => Double.NaN
    case 1 => if (random.nextBoolean()) Double.PositiveInfinity else Double.NegativeInfinity
    case 2 => if (random.nextBoolean()) 0.0 else -0.0
    case 3 => java.lang.Double.longBitsToDouble(random.nextLong())
    case 4 => (random.nextInt(21) - 10) * 1e20
    case 5 => (random.nextInt(21) - 10) * 1e-310
    case 6 => random.nextGaussian()
    case _ => (random.nextInt(81) - 40) / 4.0
  }

  /** Where the types of integers end, as they are and in seconds, and next to it. */
  private def nearPower(random: Random): Double = {
    val end = Math.scalb(1.0, Seq(7, 15, 31, 63)(random.nextInt(4)))
    val limit = if (random.nextBoolean()) end else -end
    val scaled = if (random.nextInt(3) == 0) limit / 1e6 else limit
    random.nextInt(4) match {
      case 0 => Math.nextDown(scaled)
      case 1 => Math.nextUp(scaled)
      case 2 => scaled - 0.5
      case _ => scaled
    }
  }
}
