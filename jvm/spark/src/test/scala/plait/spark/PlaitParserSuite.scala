// SPDX-License-Identifier: Apache-2.0
package plait.spark

import org.apache.spark.sql.catalyst.parser.{
  NamedParameterContext,
  ParameterContext,
  ParseException
}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.SparkSqlParser

import plait.spark.sql.PlaitParser

/** Examples: which statements are read by the parser that was there before, that of another extension. */
class PlaitParserSuite extends munit.FunSuite {
  private val theirs = LocalRelation()

  /** Reads every statement in its own way. */
  private object Other extends SparkSqlParser {
    override def parsePlan(sqlText: String): LogicalPlan = theirs
    override def parseQuery(sqlText: String): LogicalPlan = theirs
    override def parsePlanWithParameters(text: String, values: ParameterContext): LogicalPlan =
      theirs
  }
  private val parser = new PlaitParser(Other)
  private val none = NamedParameterContext(Map.empty)

  private def readers(text: String): Seq[LogicalPlan] =
    Seq(
      parser.parsePlan(text),
      parser.parseQuery(text),
      parser.parsePlanWithParameters(text, none)
    )

  for (
    text <- Seq(
      "SELECT 'a MATCH_CONDITION (b)'",
      "SELECT 1 -- FOR SYSTEM_TIME AS OF a.b",
      "SELECT 1 /* TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE) */",
      "SELECT `SYSTEM_TIME` FROM `MATCH_CONDITION`",
      "SELECT match_condition, system_time, tumble FROM t",
      "SELECT tumble(a), hop (b) FROM t",
      "SELECT * FROM t FOR SYSTEM_TIME AS OF '2026-03-01'",
      "SELECT * FROM t, LATERAL tumble(t.a)",
      "OPTIMIZE t WHERE hop (x) COMPACT",
      "EXPLAIN PRECISELY TUMBLE(TABLE OF tables)"
    )
  )
    test(s"the parser before reads: $text") {
      assert(readers(text).forall(_ eq theirs))
    }

  for (
    text <- Seq(
      "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.a >= r.a)",
      "SELECT * FROM l JOIN r FOR SYSTEM_TIME AS OF l.a ON l.k = r.k",
      "SELECT * FROM l JOIN r FOR SYSTEM_TIME AS OF PROCTIME() ON l.k = r.k",
      "SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE)",
      "SELECT * FROM TUMBLE /* ( */ -- \n (TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE)",
      "SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE, INTERVAL 2 MINUTES))",
      "SELECT * FROM tumble(t, ts, INTERVAL 1 MINUTE)"
    )
  )
    test(s"ours reads: $text") {
      assert(readers(text).forall(_ ne theirs))
    }

  for (
    text <- Seq(
      "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.a >= r.a) WHERE )",
      "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.a = r.a)",
      "SELECT * FROM r FOR SYSTEM_TIME AS OF a",
      "SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts))"
    )
  )
    test(s"a mistake in a statement with a clause is ours to tell: $text") {
      val _ = intercept[ParseException](parser.parsePlan(text))
    }
}
