// SPDX-License-Identifier: Apache-2.0
// Laws: what the solver says of each operation by itself, against Spark's own evaluation of it.
package plait.spark

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf

import plait.Cases

/** The laws of [[AgainstSpark]] of one operation over columns and literals: as many cases of each operation in each
  * family of types, where random trees hold the one often and the other seldom.
  *
  * {{{
  * IntegralDivide of decimals      40 expressions, of 500 rows each, in all evaluation modes
  * DateAdd                         8 of them in each of five zones
  * }}}
  */
class OperationLaws extends munit.FunSuite {
  import OperationLaws._
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest
  private val seen = mutable.Set.empty[String]

  for (family <- ofTheirOwn; zone <- family.zones)
    test(s"each operation of ${family.name} by itself, in $zone") {
      SQLConf.get.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, zone)
      try {
        val enough = Cases.of(20000, soak = 200000) / family.zones.size / Rows
        val random = new Random(Cases.seed + zone.hashCode)
        val expressions = new RandomExpressions(random, new RandomValues(random), zone)
        val laws = new AgainstSpark(random)
        val tried = mutable.Map.empty[String, Int].withDefaultValue(0)
        var met = 0
        // Invariant: of no operation more than `enough` expressions were tried; none that is still short of that has
        // come up among the last `met`.
        while (met < Patience) {
          val columns = Seq.tabulate(4) { i =>
            val t = family.types(random.nextInt(family.types.size))
            AttributeReference("abst".substring(i, i + 1), t)()
          }
          val expression = expressions.operation(family, columns)
          met += 1
          for (name <- nameOf(expression) if tried(name) < enough) {
            met = 0
            tried(name) += 1
            laws.check(expression, columns, Rows)
          }
        }
        val short = tried.filter(_._2 < enough)
        assert(short.isEmpty, s"too seldom among random expressions: $short")
        seen ++= tried.keys
      } finally SQLConf.get.unsetConf(SQLConf.SESSION_LOCAL_TIMEZONE)
    }

  test("all operations of which something is promised have been tried") {
    assertEquals(Promised.filterNot(seen), Nil)
  }
}

object OperationLaws {
  private val Rows = 500
  private val Patience = Cases.of(6000, soak = 30000)

  /** Each of their types stands in another family, too. */
  private val ofTheirOwn =
    RandomExpressions.families.filterNot(_.name == "numbers of all kinds")

  /** Of the outermost operation; of a cast that makes one type of many results, of what it casts. */
  private def nameOf(expression: Expression): Option[String] = expression match {
    case _: LeafExpression => None
    case Cast(of, _, _, _) if of.children.nonEmpty => nameOf(of)
    case other => Some(other.getClass.getSimpleName)
  }

  private val Promised = """
    Add Subtract Multiply Divide UnaryMinus Abs IntegralDivide Remainder Pmod Signum
    LessThan LessThanOrEqual GreaterThan GreaterThanOrEqual EqualTo EqualNullSafe And Or Not In InSet IsNull IsNotNull
    IsNaN If CaseWhen Coalesce Least Greatest Floor Ceil Round BRound RoundFloor RoundCeil Cast
    DateAdd DateSub DateDiff AddMonths DateAddYMInterval TimestampAddInterval TimestampAddYMInterval TimestampAdd
    TimestampDiff SubtractTimestamps Year TruncDate TruncTimestamp UnixSeconds UnixMillis UnixMicros UnixDate ToUnixTimestamp
    SecondsToTimestamp MillisToTimestamp MicrosToTimestamp MultiplyDTInterval DivideDTInterval MultiplyYMInterval
    DivideYMInterval Sqrt Cbrt Pow Exp Expm1 Log Log2 Log10 Log1p Logarithm Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh
    ToDegrees ToRadians""".trim.split("\\s+").toSeq
}
