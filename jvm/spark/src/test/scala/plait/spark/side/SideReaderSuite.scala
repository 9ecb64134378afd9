// SPDX-License-Identifier: Apache-2.0
// Examples: which readers share a compiled class.
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.{
  Add,
  AttributeReference,
  EvalMode,
  Expression,
  Literal,
  NumericEvalContext
}
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.types.LongType

import plait.spark.{Rows, SparkSuite}

class SideReaderSuite extends SparkSuite {
  private val columns = Seq("k", "s").map(AttributeReference(_, LongType)())
  private val row = Rows.of(LongType, LongType)

  private def reader(end: Expression) =
    SideReader.create(Seq(columns(0)), Seq(columns(1), columns(1), end), columns)

  private def plus(n: Long, mode: EvalMode.Value) =
    Add(columns(1), Literal(n), NumericEvalContext(mode))

  private def at(query: String)(sum: => Expression) =
    CurrentOrigin.withOrigin(
      Origin(Some(1), Some(0), Some(0), Some(query.length - 1), Some(query))
    )(sum)

  test("readers of equal expressions are of one class, and each has a row of its own") {
    val (one, other) = (reader(plus(5, EvalMode.LEGACY)), reader(plus(5, EvalMode.LEGACY)))
    one.read(row(Seq(1L, 10L)))
    other.read(row(Seq(2L, 20L)))
    assert(one.getClass == other.getClass)
    assert((one.keyValue, one.high) == ((1L, 15L)))
    assert((other.keyValue, other.high) == ((2L, 25L)))
  }

  test("other expressions make another class") {
    val (one, other) = (reader(plus(5, EvalMode.LEGACY)), reader(plus(6, EvalMode.LEGACY)))
    other.read(row(Seq(1L, 10L)))
    assert(one.getClass != other.getClass)
    assert(other.high == 16L)
  }

  test("an error names the place in its own query, though an equal sum stands in another or none") {
    val nowhere = reader(plus(7, EvalMode.ANSI))
    nowhere.read(row(Seq(1L, 1L)))
    for (query <- Seq("s + 7", "s +  7")) {
      val overflowing = reader(at(query)(plus(7, EvalMode.ANSI)))
      val error = intercept[ArithmeticException](overflowing.read(row(Seq(1L, Long.MaxValue))))
      assert(error.getMessage.contains(query))
    }
  }
}
