// SPDX-License-Identifier: Apache-2.0
// Laws: every cast that Spark allows between the types that have an order, against Spark's own.
package plait.spark

import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import plait.Cases

/** The laws of [[AgainstSpark]] of each cast alone: what it may be, and what a comparison, or that it
  * is NULL, says of what is cast.
  */
class CastLaws extends munit.FunSuite {
  import RandomExpressions.zones
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  /** How often each cast is tried, in three expressions. */
  private val count = Cases.of(4, soak = 40)

  /** Of each expression, so that a type is tried in 20,000 cases and more also where few casts leave it. */
  private def rows(casts: Int): Int =
    math.max(40, Cases.of(20000, soak = 200000) / (casts * 3 * count) + 1)

  private val types: Seq[DataType] = Seq(
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    BooleanType,
    FloatType,
    DoubleType,
    DecimalType(5, 2),
    DecimalType(18, 17),
    DecimalType(20, 0),
    DecimalType(38, 10),
    DecimalType(38, 37),
    DateType,
    TimestampType,
    TimestampNTZType,
    DayTimeIntervalType(),
    DayTimeIntervalType(DayTimeIntervalType.HOUR, DayTimeIntervalType.MINUTE),
    DayTimeIntervalType(DayTimeIntervalType.DAY, DayTimeIntervalType.HOUR),
    DayTimeIntervalType(DayTimeIntervalType.DAY, DayTimeIntervalType.DAY),
    YearMonthIntervalType(),
    YearMonthIntervalType(YearMonthIntervalType.YEAR, YearMonthIntervalType.YEAR),
    StringType
  )

  private def isAllowed(from: DataType, to: DataType, mode: EvalMode.Value): Boolean = mode match {
    case EvalMode.LEGACY => Cast.canCast(from, to)
    case EvalMode.ANSI => Cast.canAnsiCast(from, to)
    case _ => Cast.canTryCast(from, to)
  }

  private val casts: Seq[(DataType, DataType, EvalMode.Value)] = for {
    from <- types
    to <- types if from != to
    mode <- EvalMode.values.toSeq if isAllowed(from, to, mode)
  } yield (from, to, mode)

  private val isText = (cast: (DataType, DataType, EvalMode.Value)) =>
    cast._1 == StringType || cast._2 == StringType

  test("every cast between types that have an order is known, but for strings and tries of dates") {
    val unknown = casts.filterNot { case (from, to, mode) =>
      val column = AttributeReference("a", from)()
      val cast = Cast(column, to, Some("UTC"), mode)
      AgainstSpark.isKnown(cast, Seq(column))
    }
    def mayBe(cast: (DataType, DataType, EvalMode.Value)) = {
      val (from, to, mode) = cast
      isText(cast) || AgainstSpark.isTriedDate(Cast(Literal(null, from), to, Some("UTC"), mode))
    }
    assertEquals(unknown.filterNot(mayBe).map(describe), Nil)
    assertEquals(unknown.size, casts.count(mayBe))
  }

  private def describe(cast: (DataType, DataType, EvalMode.Value)): String =
    s"${cast._1.sql} to ${cast._2.sql}, ${cast._3}"

  /** Of a value that some cast gives half of the time, so that equality holds now and then. */
  private def compared(random: Random, cast: Cast, of: Any): Expression = {
    val t = cast.dataType
    val found = Try(cast.withNewChildren(Seq(Literal(of, cast.child.dataType))).eval()).toOption
    val other = found.filter(_ => random.nextBoolean())
    val value = Literal(other.getOrElse(new RandomValues(random).of(t)), t)
    random.nextInt(6) match {
      case 0 => LessThan(cast, value)
      case 1 => GreaterThanOrEqual(cast, value)
      case 2 => EqualNullSafe(cast, value)
      case 3 => IsNull(cast)
      case _ => EqualTo(cast, value)
    }
  }

  for ((from, ofOne) <- casts.filterNot(isText).groupBy(_._1).toSeq.sortBy(_._1.sql))
    test(s"casts of ${from.sql}") {
      val random = new Random(Cases.seed)
      val laws = new AgainstSpark(random)
      val values = new RandomValues(random)
      val each = rows(ofOne.size)
      for ((_, to, mode) <- ofOne) {
        val columns = Seq("a" -> from, "b" -> to, "s" -> from, "t" -> to).map { case (name, t) =>
          AttributeReference(name, t)()
        }
        val held = Seq
          .fill(count) {
            val zone = zones(random.nextInt(zones.size))
            val cast = Cast(columns(random.nextInt(2) * 2), to, Some(zone), mode)
            Seq(
              cast,
              compared(random, cast, values.of(from)),
              EqualTo(cast, columns(1 + random.nextInt(2) * 2))
            ).map(laws.check(_, columns, each)).sum
          }
          .sum
        assert(held > 2 * count, s"only $held values of ${describe((from, to, mode))}")
      }
    }
}
