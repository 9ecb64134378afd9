// SPDX-License-Identifier: Apache-2.0
// Laws: what the solver says of operations of time that random expressions do not hold, against Spark's own evaluation.
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import plait.Cases

/** The laws of [[AgainstSpark]] of operations that are made one by one: each over columns and literals, alone, compared
  * with a literal, and compared with a column.
  *
  * {{{
  * date - date      20,000 cases in five zones      a - b, a - b <= INTERVAL 3 DAYS, a - b = s
  * }}}
  */
class NamedOperationLaws extends munit.FunSuite {
  import NamedOperationLaws._
  import RandomExpressions.zones
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  for (named <- all)
    test(s"${named.name} is known, and what is said of it holds") {
      val random = new Random(Cases.seed + named.name.hashCode)
      val values = new RandomValues(random)
      val laws = new AgainstSpark(random)
      val expressions = Cases.of(20000, soak = 200000) / Rows
      val held = Seq
        .tabulate(expressions) { i =>
          val zone = zones(i % zones.size)
          SQLConf.get.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, zone)
          try {
            val arguments = named.arguments.zip(Seq("a", "s")).map { case (t, name) =>
              AttributeReference(name, t)()
            }
            val operation = named.of(arguments.map(orLiteral(random, values, _)), zone, random)
            val result = AttributeReference("b", operation.dataType)()
            val columns = Seq(arguments.head, result) ++ arguments.drop(1)
            assert(
              operation.references.isEmpty || AgainstSpark.isKnown(operation, columns),
              s"$operation is unknown"
            )
            val literal = Literal(values.of(operation.dataType), operation.dataType)
            val expression = random.nextInt(6) match {
              case 0 => LessThanOrEqual(operation, literal)
              case 1 => GreaterThan(operation, result)
              case 2 => LessThan(operation, result)
              case 3 => EqualTo(operation, literal)
              case _ => operation
            }
            laws.check(expression, columns, Rows)
          } finally SQLConf.get.unsetConf(SQLConf.SESSION_LOCAL_TIMEZONE)
        }
        .sum
      assert(held > expressions * Rows / 10, s"only $held evaluations had a value")
    }

  private def orLiteral(random: Random, values: RandomValues, column: AttributeReference) =
    if (random.nextInt(5) > 0) column else Literal(values.of(column.dataType), column.dataType)
}

object NamedOperationLaws {
  private val Rows = 200

  private type Make = (Seq[Expression], String, Random) => Expression

  final private case class Named(name: String, arguments: DataType*)(val of: Make)

  private val (days, months) = (DayTimeIntervalType(), YearMonthIntervalType())
  private def fails(random: Random): NumericEvalContext =
    NumericEvalContext(if (random.nextBoolean()) EvalMode.ANSI else EvalMode.LEGACY)

  private val all: Seq[Named] = Seq(
    Named("a date less a date", DateType, DateType)((x, _, _) => SubtractDates(x(0), x(1))),
    Named("unix_timestamp of a timestamp", TimestampType)((x, zone, _) =>
      UnixTimestamp(x(0), Literal("yyyy"), Some(zone))
    ),
    Named("unix_timestamp of a date", DateType)((x, zone, _) =>
      UnixTimestamp(x(0), Literal("yyyy"), Some(zone))
    ),
    Named("timestamp_seconds of a double", DoubleType)((x, _, _) => SecondsToTimestamp(x(0))),
    Named("timestamp_seconds of a decimal", DecimalType(20, 8))((x, _, _) =>
      SecondsToTimestamp(x(0))
    ),
    Named("months less months", months, months)((x, _, random) =>
      Subtract(x(0), x(1), fails(random))
    ),
    Named("minus months", months)((x, _, random) => UnaryMinus(x(0), random.nextBoolean())),
    Named("abs of months", months)((x, _, random) => Abs(x(0), random.nextBoolean())),
    Named("the sign of months", months)((x, _, _) => Signum(x(0))),
    Named("the sign of an interval of days", days)((x, _, _) => Signum(x(0))),
    Named("months div months", months, months)((x, _, random) =>
      IntegralDivide(x(0), x(1), fails(random))
    ),
    Named("an interval of days div another", days, days)((x, _, random) =>
      IntegralDivide(x(0), x(1), fails(random))
    )
  )
}
