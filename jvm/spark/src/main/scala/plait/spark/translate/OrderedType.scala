// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.types._

import plait.interval.{Domain, IntervalSet, Possible, Rational, Specials}

/** The Spark types whose values the core takes as numbers, and what they are there.
  *
  * A date is its days, a timestamp and a day-time interval their microseconds, a year-month interval
  * its months: the form in which Spark stores them, so the order of the numbers is the order of the
  * values. Strings of other collations than the binary one have another order than that of their
  * bytes, and are not known.
  */
object OrderedType {
  def domain(dataType: DataType): Option[Domain] = dataType match {
    case ByteType => Some(Domain.Byte)
    case ShortType => Some(Domain.Short)
    case IntegerType => Some(Domain.Int)
    case LongType => Some(Domain.Long)
    case DateType => Some(Domain.Date)
    case TimestampType => Some(Domain.Timestamp)
    case TimestampNTZType => Some(Domain.TimestampNtz)
    case _: DayTimeIntervalType => Some(Domain.DayTimeInterval)
    case _: YearMonthIntervalType => Some(Domain.YearMonthInterval)
    case BooleanType => Some(Domain.Boolean)
    case t: DecimalType => Some(Domain.Decimal(t.precision, t.scale))
    case FloatType => Some(Domain.Float)
    case DoubleType => Some(Domain.Double)
    case StringType => Some(Domain.Text)
    case _ => None
  }

  /** The number that a value of such a type is; none for NULL and NaN. */
  def number(value: Any, dataType: DataType): Option[Rational] = (value, dataType) match {
    case (null, _) => None
    case (x: Boolean, BooleanType) => Some(if (x) Rational.One else Rational.Zero)
    case (x: Decimal, _) => Some(Rational.of(x.toBigDecimal))
    case (x: Float, FloatType) => floating(x.toDouble, Domain.Float)
    case (x: Double, DoubleType) => floating(x, Domain.Double)
    case (x: org.apache.spark.unsafe.types.UTF8String, _) => Some(Domain.Text.number(x.getBytes))
    case (x: Number, _) => Some(Rational(x.longValue))
    case _ => None
  }

  /** What a value of such a type is, NULL and NaN too. */
  def possible(value: Any, dataType: DataType): Possible = number(value, dataType) match {
    case Some(x) => Possible.only(x)
    case None if value == null => Possible.JustNull
    case None => Possible(IntervalSet.Empty, Specials.NaN)
  }

  private def floating(x: Double, domain: Domain.Floating): Option[Rational] =
    if (x.isNaN) None
    else if (x.isPosInfinity) Some(domain.infinity)
    else if (x.isNegInfinity) Some(-domain.infinity)
    else Some(Rational.of(x))

  /** byte, short, int, bigint */
  object Integers {
    def unapply(dataType: DataType): Boolean = dataType match {
      case ByteType | ShortType | IntegerType | LongType => true
      case _ => false
    }
  }

  /** Does a cast of a day-time interval to this type keep it as it is? */
  def widens(from: DataType, to: DayTimeIntervalType): Boolean = from match {
    case a: DayTimeIntervalType => to.startField <= a.startField && to.endField >= a.endField
    case _ => false
  }

  /** decimal, float, double */
  object Fractions {
    def unapply(dataType: DataType): Boolean = dataType match {
      case _: DecimalType | FloatType | DoubleType => true
      case _ => false
    }
  }
}
