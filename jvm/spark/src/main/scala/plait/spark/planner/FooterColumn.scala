// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.runtime.RichLong
import scala.util.Try

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.spark.sql.types._

/** Ends of what a column holds but for NULL, as values of Spark; an end that is not known is None. */
final case class FooterRange(least: Option[Any], greatest: Option[Any])

object FooterRange {
  import FooterColumn.{greater, lesser}

  /** The range of what lies in any of these: each is a range, or of a column that is all NULL. */
  def union(each: Seq[Option[Either[FooterColumn.AllNull, FooterRange]]]): Option[FooterRange] =
    if (each.exists(_.isEmpty)) None
    else {
      val ranges = each.flatten.collect { case Right(range) => range }
      def all(ends: Seq[Option[Any]])(pick: Seq[Any] => Any) =
        if (ends.nonEmpty && ends.forall(_.isDefined)) Some(pick(ends.flatten)) else None
      Some(
        FooterRange(
          all(ranges.map(_.least))(_.reduce(lesser)),
          all(ranges.map(_.greatest))(_.reduce(greater))
        )
      )
    }
}

/** A column of a file of Parquet as its footer tells of it.
  *
  * @param ends
  *   least and greatest of all row groups, as the file stores them: a [[java.lang.Long]] or a
  *   [[java.lang.Double]]. None, if it is all NULL
  */
final case class FooterColumn(kind: PrimitiveType, ends: Option[(Any, Any)]) {
  import FooterColumn._

  def union(that: FooterColumn): FooterColumn = (ends, that.ends) match {
    case (Some((a, b)), Some((c, d))) => copy(ends = Some((lesser(a, c), greater(b, d))))
    case _ => copy(ends = ends.orElse(that.ends))
  }

  /** As what Spark takes it for; None, if that is not what it holds, or if it may be read as another value.
    *
    * {{{
    * INT32 without more          TINYINT        None: Spark cuts what does not fit
    *                             INT, BIGINT    as it is
    * INT64 in milliseconds, UTC  TIMESTAMP      times 1000
    * INT32 of decimal(9, 2)      DECIMAL(12, 2) unscaled
    * DOUBLE                      DOUBLE         the least alone, for NaN is above all and in no footer
    * }}}
    */
  def as(dataType: DataType): Option[Either[AllNull, FooterRange]] = ends match {
    case None => Some(Left(AllNull))
    case Some((least: Long, greatest: Long)) =>
      whole(dataType, least, greatest).map(Right(_))
    case Some((least: Double, _)) => floating(dataType, least).map(Right(_))
    case _ => None
  }

  private def whole(dataType: DataType, least: Long, greatest: Long): Option[FooterRange] = {
    def as(value: Long => Any) = Some(FooterRange(Some(value(least)), Some(value(greatest))))
    def both(isOfType: RichLong => Boolean) = isOfType(least) && isOfType(greatest)
    (dataType, kind.getLogicalTypeAnnotation) match {
      case (ByteType, _) if bits <= 8 && both(_.isValidByte) => as(_.toByte)
      case (ShortType, _) if bits <= 16 && both(_.isValidShort) => as(_.toShort)
      case (IntegerType, _) if bits <= 32 => as(_.toInt)
      case (LongType, _) if bits <= 64 => as(x => x)
      case (_: DayTimeIntervalType, null) if kind.getPrimitiveTypeName == INT64 => as(x => x)
      case (_: YearMonthIntervalType, null) if kind.getPrimitiveTypeName == INT32 => as(_.toInt)
      case (DateType, _: DateLogicalTypeAnnotation) =>
        Some(since(FirstSureDay, least, greatest)(_.toInt))
      case (TimestampType, time: TimestampLogicalTypeAnnotation) if time.isAdjustedToUTC =>
        micros(time.getUnit, least, greatest)
      case (TimestampNTZType, time: TimestampLogicalTypeAnnotation) if !time.isAdjustedToUTC =>
        micros(time.getUnit, least, greatest)
      case (to: DecimalType, of: DecimalLogicalTypeAnnotation)
          if of.getScale == to.scale && of.getPrecision <= to.precision =>
        fitting(to, least, greatest)
      case _ => None
    }
  }

  /** None, if a file holds more digits than it says: what Spark makes of them is not sure. */
  private def fitting(to: DecimalType, least: Long, greatest: Long): Option[FooterRange] =
    Try(Seq(least, greatest).map(Decimal(_, to.precision, to.scale))).toOption.collect {
      case Seq(from, until) => FooterRange(Some(from), Some(until))
    }

  /** How wide the integers of the column are; of what are none, wider than any type. */
  private def bits: Int = kind.getLogicalTypeAnnotation match {
    case null => if (kind.getPrimitiveTypeName == INT32) 32 else 64
    case whole: IntLogicalTypeAnnotation if whole.isSigned => whole.getBitWidth
    case _ => Int.MaxValue
  }

  private def micros(unit: TimeUnit, least: Long, greatest: Long): Option[FooterRange] =
    unit match {
      case TimeUnit.MICROS => Some(since(FirstSureMicro, least, greatest)(x => x))
      case TimeUnit.MILLIS =>
        Try((Math.multiplyExact(least, 1000L), Math.multiplyExact(greatest, 1000L))).toOption.map {
          case (from, to) => since(FirstSureMicro, from, to)(x => x)
        }
      case TimeUnit.NANOS => None
    }

  private def floating(dataType: DataType, least: Double): Option[FooterRange] =
    (dataType, kind.getPrimitiveTypeName) match {
      case _ if least.isNaN || kind.getLogicalTypeAnnotation != null => None
      case (DoubleType, DOUBLE) => Some(FooterRange(Some(least), None))
      case (FloatType, FLOAT) => Some(FooterRange(Some(least.toFloat), None))
      case _ => None
    }
}

object FooterColumn {

  /** No value but NULL. */
  sealed trait AllNull
  case object AllNull extends AllNull

  /** Before these, Spark may shift what it reads, if an old Spark or Hive wrote it: days of the Julian calendar,
    * before 1582-10-15, and instants by the local mean time of their zone, before 1901.
    */
  private val FirstSureDay = -141427L
  private val FirstSureMicro = -2177452800L * 1000000L

  /** What lies before may be read as another value that does. */
  private def since(first: Long, least: Long, greatest: Long)(value: Long => Any): FooterRange = {
    def end(x: Long) = Option.when(x >= first)(value(x))
    FooterRange(end(least), end(greatest))
  }

  /** None, if the footer does not say, or says what cannot be, or says it to those who have a key. */
  def of(kind: PrimitiveType, part: ColumnChunkMetaData): Option[FooterColumn] = {
    val told: Statistics[_] = if (part.isEncrypted) null else part.getStatistics
    if (told == null) None
    else if (told.hasNonNullValue)
      ends(kind, told.genericGetMin, told.genericGetMax).map(e => FooterColumn(kind, Some(e)))
    else
      Option.when(told.isNumNullsSet && told.getNumNulls == part.getValueCount)(
        FooterColumn(kind, None)
      )
  }

  private def ends(kind: PrimitiveType, least: Any, greatest: Any): Option[(Any, Any)] = {
    val found = kind.getPrimitiveTypeName match {
      case INT32 | INT64 =>
        Some((least, greatest)).collect { case (a: Number, b: Number) =>
          (a.longValue, b.longValue)
        }
      case FLOAT | DOUBLE =>
        Some((least, greatest)).collect { case (a: Number, b: Number) =>
          (a.doubleValue, b.doubleValue)
        }
      case _ => None
    }
    found.filter { case (a, b) => compare(a, b) <= 0 }
  }

  /** Ends of one column are of one type. */
  private def compare(a: Any, b: Any): Int = a.asInstanceOf[Comparable[Any]].compareTo(b)
  private[planner] def lesser(a: Any, b: Any): Any = if (compare(a, b) <= 0) a else b
  private[planner] def greater(a: Any, b: Any): Any = if (compare(a, b) >= 0) a else b
}
