// SPDX-License-Identifier: Apache-2.0
// Laws: a timestamp and an interval added without a calendar, against Spark's own sum.
package plait.spark

import java.time.{Instant, ZoneId}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.types.{DayTimeIntervalType, TimestampNTZType, TimestampType}
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.LawSuite
import plait.spark.translate.InstantSum

class InstantSumLaws extends LawSuite(test = 500, soak = 20000) {
  private val day = 86400L * 1000000L
  private val zones =
    Seq("UTC", "+05:30", "America/New_York", "America/St_Johns", "Africa/Casablanca")
  private val interval = DayTimeIntervalType()

  // Around the clock changes of a year, and anywhere between the years 1 and 9999.
  private val instants: Gen[Long] = Gen.oneOf(
    Gen.choose(-62135596800L, 253402300799L).map(_ * 1000000L + 7),
    for {
      zone <- Gen.oneOf(zones)
      change = Option(
        ZoneId.of(zone).getRules.nextTransition(Instant.parse("2026-02-01T00:00:00Z"))
      )
      seconds <- Gen.choose(-90000L, 90000L)
    } yield (change.fold(0L)(_.toEpochSecond) + seconds) * 1000000L
  )

  private def sum(instant: Long, micros: Long, zone: String) = TimestampAddInterval(
    Literal(instant, TimestampType),
    Literal(micros, interval),
    Some(zone)
  )

  private def compiled(expression: Expression): Long =
    GenerateUnsafeProjection.generate(Seq(expression))(null).getLong(0)

  property("instant + interval = Spark's sum, for less than a day in every zone") {
    forAll(instants, Gen.choose(1 - day, day - 1), Gen.oneOf(zones)) { (instant, micros, zone) =>
      val spark = sum(instant, micros, zone)
      val ours = InstantSum.in(spark)
      assert(ours.isInstanceOf[InstantSum])
      assertEquals(ours.eval(null), spark.eval(null))
      assertEquals(compiled(ours), compiled(spark))
    }
  }

  property("instant + interval = Spark's sum, for days in a zone of fixed offset") {
    forAll(instants, Gen.choose(-400 * day, 400 * day), Gen.oneOf("UTC", "+05:30")) {
      (instant, micros, zone) =>
        val spark = sum(instant, micros, zone)
        assertEquals(InstantSum.in(spark).eval(null), spark.eval(null))
    }
  }

  test("a day where clocks change, and an interval that is not known, go by the calendar") {
    val zone = "America/New_York"
    val column = AttributeReference("d", interval)()
    val ofDay = sum(0L, day, zone)
    val ofColumn = TimestampAddInterval(Literal(0L, TimestampType), column, Some(zone))
    assertEquals(InstantSum.in(ofDay), ofDay)
    assertEquals(InstantSum.in(ofColumn), ofColumn)
    val local = TimestampAddInterval(Literal(0L, TimestampNTZType), column, Some(zone))
    assertEquals(InstantSum.in(local), InstantSum(local.left, column))
  }

  test("beyond the last microsecond both fail") {
    val spark = sum(Long.MaxValue - 1, 2L, "UTC")
    assert(intercept[ArithmeticException](spark.eval(null)) != null)
    assert(intercept[ArithmeticException](InstantSum.in(spark).eval(null)) != null)
  }

  test("it is written as Spark writes it") {
    val spark = sum(0L, 1000000L, "UTC")
    assertEquals(InstantSum.in(spark).toString, spark.toString)
    assertEquals(InstantSum.in(spark).sql, spark.sql)
  }
}
