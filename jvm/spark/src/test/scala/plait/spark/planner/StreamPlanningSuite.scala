// SPDX-License-Identifier: Apache-2.0
// Examples: joins of streams of which the planning fails.
package plait.spark.planner

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{And, AttributeReference, EqualTo}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.LongType

import plait.spark.plan.StreamJoin
import plait.spark.{PlaitConf, SparkSuite}

class StreamPlanningSuite extends SparkSuite {
  private def side(name: String) =
    LocalRelation(
      Seq(AttributeReference(s"$name.k", LongType)(), AttributeReference(s"$name.s", LongType)()),
      isStreaming = true
    )
  private val (left, right) = (side("l"), side("r"))
  private val condition =
    And(EqualTo(left.output.head, right.output.head), BrokenAtMost(left.output(1), right.output(1)))
  private val join = Join(left, right, Inner, Some(condition), JoinHint.NONE)

  private def told(onError: String)(plan: => Any): String =
    withConf(PlaitConf.PlanningOnError -> onError) {
      intercept[Exception](plan) match {
        case refused: AnalysisException => refused.getMessage
        case other => s"raw: ${other.getMessage}"
      }
    }

  private def planned = StreamJoinStrategy(
    StreamJoin(left, right, Inner, Some(condition), JoinHint.NONE, join.output)
  )

  test("a join of streams whose planning fails is refused with a sentence that says what to do") {
    val sentence = told("spark")(planned)
    assert(sentence.contains("planning a join of streams failed"), sentence)
    assert(sentence.contains("no such value"), sentence)
    assert(sentence.contains("NO_SYMMETRIC_HASH"), sentence)
    assert(sentence.contains("[STREAM_NOT_PLANNED]"), sentence)
  }

  test("so it is when the query starts") {
    val started =
      WriteToStream("q", None, "", null, OutputMode.Append(), false, join, None, None)
    assert(told("spark")(new StreamJoinCheck(spark)(started)).contains("[STREAM_NOT_PLANNED]"))
  }

  test("spark.plait.planning.on-error=fail raises the error itself") {
    assertEquals(told("fail")(planned), "raw: no such value")
  }
}
