// SPDX-License-Identifier: Apache-2.0
// Oracle: joins by bucket above which memory runs short once they have begun, against Spark's own join. Laws: rows by
// bucket from a file.
package plait.spark

import org.apache.spark.sql.{Row, SparkSession}

import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.side._

class KeptRowsSuite extends LittleMemorySuite {

  // Some 2 MB a side, ten rows a key; of every third key no row has a partner.
  private def table(name: String, how: String): String = how.format(
    "(SELECT id, IF(id % 13 = 0, NULL, id % 1000) AS k, IF(id % 17 = 0, NULL, id * 7 % 10000) AS t, " +
      "repeat(char(97 + id % 26), CAST(id % 400 AS INT)) AS p FROM range(10000))"
  ) + s" $name"

  // The groups take memory while the join is under way: more than there is.
  private def query(joinType: String, how: String): String = {
    val ofLeft = joinType.endsWith("SEMI") || joinType.endsWith("ANTI")
    val columns =
      if (ofLeft) "l.id, l.p, repeat(l.p, 12) AS rid, 'no' AS rp"
      else "l.id, l.p, r.id AS rid, r.p AS rp"
    "SELECT count(*), sum(n), sum(h) FROM (SELECT id, p, count(*) AS n, sum(hash(rid, rp)) AS h FROM " +
      s"(SELECT /*+ SYMMETRIC_HASH(l, r) */ $columns FROM ${table("l", how)} $joinType JOIN " +
      s"${table("r", how)} ON l.k = r.k AND r.t BETWEEN l.t - 5000 AND l.t + 5000 AND l.id % 3 <> 0) GROUP BY id, p, rid)"
  }

  private def existence(how: String): String =
    "SELECT count(*), sum(n), sum(h) FROM (SELECT id, p, count(*) AS n, max(t) AS h FROM (SELECT id, p, t, repeat(p, 12) AS rid FROM " +
      s"${table("l", how)} WHERE l.id % 5 = 0 OR EXISTS (SELECT * FROM ${table("r", how)} WHERE l.k = r.k " +
      "AND r.t BETWEEN l.t - 5000 AND l.t + 5000 AND l.id % 3 <> 0)) GROUP BY id, p, rid)"

  private val types = Seq("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")

  private def byBucket[A](memory: Long, settings: (String, String)*)(body: SparkSession => A): A = {
    val ways = Seq("spark.plait.join.strategy" -> "always", PlaitConf.RadixJoin -> "always")
    inLittleMemory(ways ++ settings :+ ("spark.testing.memory" -> memory.toString): _*)(body)
  }

  private case class Ran(rows: Seq[Row], byBucket: Long, spilled: Long)

  private def run(session: SparkSession, sql: String): Ran = {
    val df = session.sql(sql)
    val rows = df.collect().toSeq
    val joins = collect(df.queryExecution.executedPlan) { case join: SymmetricHashJoinExec => join }
    def sum(name: String) = joins.map(_.metrics(name).value).sum
    Ran(rows, sum(JoinMetrics.RowsInBuckets), sum(JoinMetrics.SpillSize))
  }

  private val hows = Seq(
    "by hash" -> "%s",
    "by hash of a text" -> "(SELECT id, concat('key ', k) AS k, t, p FROM %s)",
    // COALESCE hides from Spark that they come by key, which would be joined as they come.
    "as they lie" -> "(SELECT /*+ COALESCE(1) */ * FROM (SELECT *, count(*) OVER (PARTITION BY k ORDER BY id) AS n FROM %s) WHERE n > 0)"
  )
  private lazy val expected: Map[String, Seq[Row]] =
    ofSparkAlone(hows.flatMap { case (_, how) =>
      types.map(query(_, how)) :+ existence(how)
    }).toMap

  for {
    (mode, settings) <- Seq(
      "on heap" -> Seq("spark.memory.offHeap.enabled" -> "false"),
      "off heap" -> Seq(
        "spark.memory.offHeap.enabled" -> "true",
        "spark.memory.offHeap.size" -> "8400000"
      )
    )
    (name, how) <- hows
  }
    test(
      s"rows that are joined $name go to disk when others want memory, and each type gives Spark's ($mode)"
    ) {
      val rows = expected
      byBucket(14000000, settings: _*) { session =>
        for (sql <- types.map(query(_, how)) :+ existence(how)) {
          val ran = run(session, sql)
          assertEquals(ran.rows, rows(sql), sql)
          assert(ran.byBucket > 5000, s"${ran.byBucket} rows by bucket: $sql")
          assert(ran.spilled > 300000, s"${ran.spilled} bytes spilled: $sql")
        }
      }
    }

  // Most rows can match nothing, and are given first; each makes a group that is larger than they are.
  private def ofDead(joinType: String, dead: String, key: String): String = {
    val ofLeft = joinType.endsWith("ANTI")
    val columns =
      if (ofLeft) "l.id, l.p" else "coalesce(l.id, -r.id) AS id, coalesce(l.p, r.p) AS p"
    def rows(name: String) = "(SELECT id, " +
      (if (dead.contains(name)) s"IF(id % 10 > 0, NULL, $key)" else key) +
      s" AS k, id * 7 % 10000 AS t, repeat('x', CAST(id % 400 AS INT)) AS p FROM range(10000)) $name"
    "SELECT count(*), sum(n), sum(h) FROM (SELECT id, g, count(*) AS n, sum(hash(p)) AS h FROM (SELECT *, " +
      s"repeat(p, 9) AS g FROM (SELECT /*+ SYMMETRIC_HASH(l, r) */ $columns FROM ${rows("l")} $joinType JOIN " +
      s"${rows("r")} ON l.k = r.k AND r.t BETWEEN l.t - 5000 AND l.t + 5000)) GROUP BY id, g)"
  }

  test("rows that can match nothing come out of a file, too, and those behind them find theirs") {
    val cases = for {
      joinType <- Seq("FULL", "LEFT", "LEFT ANTI", "RIGHT")
      dead <- Seq("l", "r", "l r")
      // By hash; as they lie.
      key <- Seq("id * 7 % 10000", "id")
    } yield ofDead(joinType, dead, key)
    val rows = ofSparkAlone(cases)
    byBucket(14000000) { session =>
      val spilled = rows.map { case (sql, expected) =>
        val ran = run(session, sql)
        assertEquals(ran.rows, expected, sql)
        ran.spilled
      }
      assert(spilled.count(_ > 150000) >= 20, s"$spilled")
    }
  }

  test("long rows are read from a file in as much memory as was kept for them") {
    val rows =
      "(SELECT /*+ COALESCE(1) */ *, count(*) OVER (PARTITION BY k ORDER BY id) AS n FROM (SELECT id, id % 90 AS k, " +
        "id * 7 % 180 AS t, repeat('y', CAST(20000 + id * 7919 % 40000 AS INT)) AS p FROM range(180)))"
    val sql =
      "SELECT count(*), sum(n), sum(h) FROM (SELECT id, g, count(*) AS n, sum(hash(lp, rp)) AS h FROM " +
        "(SELECT l.id, l.p AS lp, r.p AS rp, concat(l.p, r.p, r.id) AS g FROM " +
        s"$rows l JOIN $rows r ON l.k = r.k AND r.t BETWEEN l.t - 200 AND l.t + 200 WHERE l.n + r.n > 0) " +
        "GROUP BY id, g)"
    val expected = ofSparkAlone(Seq(sql)).head._2
    byBucket(50000000) { session =>
      val ran = run(session, sql)
      assertEquals(ran.rows, expected)
      assertEquals((ran.byBucket, ran.spilled > 1000000), (360L, true), s"${ran.spilled}")
    }
  }

  test(
    "of a bucket with most of the rows what was joined makes room, the rest stays: there is one key"
  ) {
    val sql =
      "SELECT count(*), sum(n) FROM (SELECT id, p, count(*) AS n FROM (SELECT l.id, l.p, r.id AS rid FROM " +
        s"${table("l", "%s")} JOIN ${table("r", "%s")} ON l.k % 1 = r.k % 1 AND r.t BETWEEN l.t - 5 AND l.t + 5) " +
        "GROUP BY id, p, rid)"
    val rows = ofSparkAlone(Seq(sql)).head._2
    byBucket(10500000) { session =>
      val ran = run(session, sql)
      assertEquals(ran.rows, rows)
      assert(ran.byBucket > 15000 && ran.spilled > 500000 && ran.spilled < 2000000, s"$ran")
    }
  }

  // Spark asks for the first row in one thread of the task, and feeds the script from another.
  private def script(how: String, radix: String): String =
    "SELECT count(*), sum(n), sum(h) FROM (SELECT id, p, rid, count(*) AS n, sum(hash(rp)) AS h FROM (SELECT " +
      "TRANSFORM(l.id, l.p, r.id, r.p) USING 'cat' AS (id INT, p STRING, rid INT, rp STRING) FROM " +
      s"${table("l", how)} FULL JOIN ${table("r", how)} ON l.k = r.k AND r.t BETWEEN l.t - $radix AND " +
      s"l.t + $radix AND l.id % 3 <> 0) GROUP BY id, p, rid)"

  for ((mode, settings) <- Seq("on heap" -> "false", "off heap" -> "true"))
    test(
      s"rows stay while another thread of the task reads them: a script makes something of them ($mode)"
    ) {
      val all = for ((_, how) <- hows; radix <- Seq("5000", "4999")) yield script(how, radix)
      val rows = ofSparkAlone(all)
      val offHeap = Seq(
        "spark.memory.offHeap.enabled" -> settings,
        "spark.memory.offHeap.size" -> "8400000"
      )
      byBucket(14000000, offHeap: _*) { session =>
        for ((sql, expected) <- rows) {
          session.conf.set(PlaitConf.RadixJoin, if (sql.contains("4999")) "never" else "always")
          assertEquals(run(session, sql).rows, expected, sql)
        }
      }
    }
}
