// SPDX-License-Identifier: Apache-2.0
// Laws: sums of integers, against Spark's own.
package plait.spark

import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

import plait.Cases
import plait.spark.translate.ExactSum

class ExactSumLaws extends munit.FunSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  private val ansi = NumericEvalContext(EvalMode.ANSI)

  private def limits(dataType: DataType): Seq[Any] = dataType match {
    case LongType =>
      Seq(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue - 1, Long.MaxValue, null)
    case _ => Seq(Int.MinValue, Int.MinValue + 1, -1, 0, 1, Int.MaxValue - 1, Int.MaxValue, null)
  }

  private def any(random: Random, dataType: DataType): Any = dataType match {
    case LongType => random.nextLong() >> random.nextInt(64)
    case _ => random.nextInt() >> random.nextInt(32)
  }

  for {
    dataType <- Seq(LongType, IntegerType)
    (name, sum) <- Seq[(String, (Expression, Expression) => Expression)](
      "sum" -> (Add(_, _, ansi)),
      "difference" -> (Subtract(_, _, ansi))
    )
  }
    test(s"a $name of $dataType is Spark's, or its error, as code and without") {
      val columns = Seq("a", "b").map(AttributeReference(_, dataType)())
      val ofSpark = sum(columns(0), columns(1))
      val ours = ExactSum.in(ofSpark)
      assert(ours.isInstanceOf[ExactSum])
      def bound(e: Expression) = BindReferences.bindReference(e, columns)
      val compiled = UnsafeProjection.create(Seq(ours), columns)
      val random = new Random(Cases.seed)
      val pairs = (for (a <- limits(dataType); b <- limits(dataType)) yield Seq(a, b)) ++
        Seq.fill(Cases.of(5000, soak = 500000))(Seq.fill(2)(any(random, dataType)))
      var failures = 0
      for (pair <- pairs) {
        val row = InternalRow.fromSeq(pair)
        def told(found: Try[Any]) = found.fold(_.getMessage, value => s"$value")
        val expected = told(Try(bound(ofSpark).eval(row)))
        assertEquals(told(Try(bound(ours).eval(row))), expected, s"$pair")
        assertEquals(told(Try(compiled(row).get(0, dataType))), expected, s"$pair")
        if (expected.contains("ARITHMETIC_OVERFLOW")) failures += 1
      }
      assert(failures > 5)
    }

  test("sums in other modes, and of other types, are left as they are") {
    val column = AttributeReference("a", LongType)()
    val tried = Add(column, Literal(1L), NumericEvalContext(EvalMode.TRY))
    val short = Add(Literal(1.toShort), Literal(2.toShort), ansi)
    val real = Add(Literal(1.0), Literal(2.0), ansi)
    for (sum <- Seq[Expression](tried, short, real)) assertEquals(ExactSum.in(sum), sum)
  }

  test("it reads as Spark's does, and so does a sum within a sum") {
    val column = AttributeReference("a", LongType)()
    val within = GreaterThan(Subtract(Add(column, Literal(1L), ansi), column, ansi), Literal(3L))
    assertEquals(ExactSum.in(within).toString, within.toString)
    assertEquals(ExactSum.in(within).sql, within.sql)
  }
}
