// SPDX-License-Identifier: Apache-2.0
// Examples: what is printed of a join that has ended.
package plait.spark

import java.io.{ByteArrayOutputStream, PrintStream}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.DataFrame

class ProbeLogSuite extends SparkSuite {
  private val near = "f.k = w.k AND w.t BETWEEN f.t - 1 AND f.t + 2"

  private def table(name: String) = s"(SELECT id, id % 7 AS k, id % 97 AS t FROM range(1000)) $name"

  /** The lines that begin so, printed by a query, as soon as there are as many. */
  private def printed(
      query: String,
      count: Int,
      times: Int = 1,
      afterEach: DataFrame => Unit = _ => ()
  ): Seq[String] = {
    val bytes = new ByteArrayOutputStream
    def lines = bytes.toString(UTF_8).linesIterator.filter(_.matches("\\w+Join .*")).toSeq
    val before = System.out
    System.setOut(new PrintStream(bytes, true, UTF_8))
    try {
      val df = spark.sql(query)
      for (_ <- 1 to times) {
        df.collect()
        afterEach(df)
      }
      val deadline = System.nanoTime() + 20000000000L
      while (lines.size < count && System.nanoTime() < deadline) Thread.sleep(20)
      if (count < times) Thread.sleep(500)
    } finally System.setOut(before)
    lines
  }

  test("a line a join, its sides named as the query names them; both numbers add up to the rows") {
    withConf(PlaitConf.LogProbes -> "true") {
      val query = s"SELECT f.id, w.id FROM ${table("f")} JOIN ${table("w")} ON $near"
      val line = printed(query, 1).mkString("\n")
      val said =
        "SymmetricHashJoin Inner: (\\d+) rows; matches found by probing f: (\\d+), by probing w: (\\d+)".r
      val (rows, left, right) = line match {
        case said(rows, left, right) => (rows, left, right)
        case other => fail(s"'$other'")
      }
      assertEquals(left.toLong + right.toLong, rows.toLong)
      assert(left.toLong > 0 && right.toLong > 0, line)
    }
  }

  test("a DataFrame that runs three times has three lines, all the same") {
    for (isAdaptive <- Seq("true", "false"))
      withConf(PlaitConf.LogProbes -> "true", "spark.sql.adaptive.enabled" -> isAdaptive) {
        val dealt = s"SELECT f.id, w.id FROM ${table("f")} JOIN ${table("w")} ON $near"
        val collected =
          dealt.replace("SELECT", "SELECT /*+ BROADCAST(w) */").replace("f.k = w.k AND", "")
        for (query <- Seq(dealt, collected)) {
          val lines = printed(query, 3, times = 3)
          assertEquals(lines.size, 3)
          assertEquals(lines.map(_.takeWhile(_ != ';')).distinct.size, 1, s"$lines")
        }
      }
  }

  test(
    "what is told late of a run, when the counters are at zero for the next, is what it came to"
  ) {
    val slow = new SparkListener {
      override def onJobStart(start: SparkListenerJobStart): Unit = Thread.sleep(1000)
    }
    spark.sparkContext.addSparkListener(slow)
    try
      withConf(PlaitConf.LogProbes -> "true", "spark.sql.adaptive.enabled" -> "false") {
        val query = s"SELECT f.id, w.id FROM ${table("f")} JOIN ${table("w")} ON $near"
        val lines = printed(query, 1, afterEach = _.queryExecution.executedPlan.resetMetrics())
        assertEquals(lines.map(_.takeWhile(_ != ';')), Seq("SymmetricHashJoin Inner: 6114 rows"))
      }
    finally spark.sparkContext.removeSparkListener(slow)
  }

  test("a join that does not run again, as what came of it was shuffled, has one line") {
    withConf(PlaitConf.LogProbes -> "true", "spark.sql.adaptive.enabled" -> "false") {
      val query =
        s"SELECT f.id, count(*) FROM ${table("f")} JOIN ${table("w")} ON $near GROUP BY f.id"
      assertEquals(printed(query, 1, times = 3).size, 1)
    }
  }

  test("two joins of a query have a line each; nothing is printed where it is off") {
    val both = s"SELECT * FROM ${table("f")} LEFT JOIN ${table("w")} ON $near " +
      s"JOIN ${table("v")} ON v.k = f.k AND v.t < f.t AND v.t > f.t - 2"
    withConf(PlaitConf.LogProbes -> "true")(assertEquals(printed(both, 2).size, 2))
    assertEquals(printed(both, 0), Nil)
  }

  test(
    "of a join with a collected side it is that side which is probed, in generated code and without"
  ) {
    val query = s"""SELECT /*+ BROADCAST(w) */ count(w.id) FROM ${table("f")}
      LEFT JOIN ${table("w")} ON w.t BETWEEN f.t AND f.t + 2 AND w.id < 50"""
    for (isGenerated <- Seq("true", "false"))
      withConf(PlaitConf.LogProbes -> "true", "spark.sql.codegen.wholeStage" -> isGenerated) {
        val said = "CollectedJoin LeftOuter: (\\d+) rows; all matches found by probing w".r
        printed(query, 1) match {
          case Seq(said(rows)) => assert(rows.toLong >= 1000, rows)
          case other => fail(s"$other")
        }
      }
  }
}
