// SPDX-License-Identifier: Apache-2.0
// Oracle: joins whose rows do not fit in memory, against Spark's own join.
package plait.spark

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}

import scala.collection.mutable

import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import plait.Side
import plait.spark.exec.{AsOfJoinExec, SymmetricHashJoinExec}
import plait.spark.side.JoinMetrics

class SpillSuite extends LittleMemorySuite {

  // Some 2 MB a side, all of it within reach, where a task has 1.8 MB.
  private def table(name: String): String =
    "(SELECT id, IF(id % 13 = 0, NULL, id % 1000) AS k, IF(id % 17 = 0, NULL, id * 7 % 10000) AS t, " +
      s"repeat('x', CAST(id % 400 AS INT)) AS payload FROM range(10000)) $name"

  private def query(joinType: String, condition: String): String = {
    val right = if (joinType.endsWith("SEMI") || joinType.endsWith("ANTI")) "l.id" else "r.payload"
    s"SELECT /*+ SYMMETRIC_HASH(l, r) */ count(*), sum(hash(l.id, l.payload, $right)) " +
      s"FROM ${table("l")} $joinType JOIN ${table("r")} ON l.k = r.k $condition"
  }

  private def run(session: SparkSession, query: String): (Seq[Row], Option[Long]) = {
    val df = session.sql(query)
    val rows = df.collect().toSeq
    val join = collect(df.queryExecution.executedPlan) { case join: SymmetricHashJoinExec => join }
    (rows, join.headOption.map(_.metrics(JoinMetrics.SpillSize).value))
  }

  private def rowsInBuckets(df: DataFrame): Seq[Long] =
    collect(df.queryExecution.executedPlan) { case join: SymmetricHashJoinExec =>
      join.metrics(JoinMetrics.RowsInBuckets).value
    }

  // A row of every third key has no partner.
  private val expected = mutable.Map.empty[String, Seq[Row]]

  private def ofSpark(session: SparkSession, query: String): Seq[Row] = {
    session.conf.set(PlaitConf.Enabled, "false")
    try run(session, query)._1
    finally session.conf.set(PlaitConf.Enabled, "true")
  }

  private val never = "AND r.t BETWEEN l.t - 9000 AND l.t + 9000 AND l.k % 3 <> 0"

  private val types = Seq("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")

  private val onHeap = Seq("spark.memory.offHeap.enabled" -> "false")
  private val offHeap =
    Seq("spark.memory.offHeap.enabled" -> "true", "spark.memory.offHeap.size" -> "1800000")

  for (
    (mode, settings) <- Seq(
      "on heap" -> onHeap,
      "off heap" -> offHeap,
      "on heap, by bucket if there is room" -> (onHeap :+ (PlaitConf.RadixJoin -> "always"))
    )
  )
    test(
      s"rows held that do not fit go to disk, and each type gives the rows of Spark's ($mode)"
    ) {
      inLittleMemory(settings: _*) { session =>
        val cases = types.map(query(_, never)) :+ query("INNER", "")
        for (sql <- cases) {
          val (rows, spilled) = run(session, sql)
          assertEquals(rows, expected.getOrElseUpdate(sql, ofSpark(session, sql)), sql)
          assert(spilled.exists(_ > 100000), s"$spilled bytes spilled: $sql")
        }
      }
    }

  // A row that has none of its own is let through by the other half of the OR.
  private val existence = "SELECT count(*), sum(hash(l.id, l.payload)) FROM " + table("l") +
    s" WHERE l.id % 5 = 0 OR EXISTS (SELECT * FROM ${table("r")} WHERE l.k = r.k $never)"

  // Fewer and longer rows: Spark compares each with each.
  private def inRanges(joinType: String): String = query(joinType, "")
    .replace("l.k = r.k", "r.t BETWEEN l.t - 1500 AND l.t + 1500 AND hash(l.id, r.id) % 100 = 0")
    .replace("id % 400", "id % 400 * 4")
    .replace("range(10000)", "range(2500)")

  // Longer rows of a single key, all of it within reach: some 2 MB a side that nothing prunes.
  private def ofOneKey(joinType: String): String =
    query(joinType, "AND r.t BETWEEN l.t - 9000 AND l.t + 9000 AND hash(l.id, r.id) % 100 = 0")
      .replace("id % 1000", "1")
      .replace("id % 400", "id % 400 * 4")
      .replace("range(10000)", "range(2500)")

  private lazy val rowsOfOneKey = ofSparkAlone(types.map(ofOneKey))

  for ((mode, settings) <- Seq("on heap" -> onHeap, "off heap" -> offHeap))
    test(s"the rows of one key do not need to fit in memory ($mode)") {
      val all = rowsOfOneKey
      inLittleMemory(settings: _*) { session =>
        for ((sql, rows) <- all) {
          val (found, spilled) = run(session, sql)
          assertEquals(found, rows, sql)
          assert(spilled.exists(_ > 100000), s"$spilled bytes spilled: $sql")
        }
      }
    }

  // Of two keys, each once in a portion with the keys that follow: sides that come by key.
  private def byKey(joinType: String): String = ofOneKey(joinType)
    .replace("1) AS k", "id % 2) AS k")
    .replace(
      "(SELECT id, IF",
      "(SELECT id, k, t, payload FROM (SELECT *, count(*) OVER (PARTITION BY k ORDER BY id) AS n FROM (SELECT id, IF"
    )
    .replace("range(2500))", "range(2500))) WHERE n > 0)")

  // Each group has a row or few, so that the aggregation above the join takes all memory that there is, and gives none
  // back before it has found out that there is no more.
  private def grouped(joinType: String): String = {
    val right = if (joinType.endsWith("ANTI")) "l.id" else "r.id"
    s"SELECT count(*), sum(n), sum(hash(a, b, p)) FROM (SELECT l.id AS a, $right AS b, l.payload AS p, count(*) AS n " +
      s"FROM ${table("l")} $joinType JOIN ${table("r")} ON l.k = r.k AND r.t BETWEEN l.t - 200 AND l.t + 200 " +
      s"GROUP BY l.id, $right, l.payload)"
  }

  for ((mode, settings) <- Seq("on heap" -> onHeap, "off heap" -> offHeap))
    test(s"an aggregation above the join may take all memory ($mode)") {
      val all = ofSparkAlone(Seq("LEFT", "RIGHT", "FULL", "LEFT ANTI").map(grouped))
      inLittleMemory(settings: _*) { session =>
        for ((sql, rows) <- all) {
          val (found, spilled) = run(session, sql)
          assertEquals(found, rows, sql)
          assert(spilled.isDefined, sql)
        }
      }
    }

  // Many keys of three rows each, whose groups fill the memory, and behind them one of a thousand, which is stored.
  private def groupedByKey(joinType: String): String = grouped(joinType)
    .replace("IF(id % 13 = 0, NULL, id % 1000)", "IF(id < 9000, id DIV 3, 99999)")
    .replace(
      "(SELECT id, IF",
      "(SELECT id, k, t, payload FROM (SELECT *, count(*) OVER (PARTITION BY k ORDER BY id) AS n FROM (SELECT id, IF"
    )
    .replace("range(10000))", "range(10000))) WHERE n > 0)")

  test("an aggregation above a join of sides that come by key may take all memory, too") {
    val all = ofSparkAlone(Seq("INNER", "LEFT", "FULL").map(groupedByKey))
    for (radix <- Seq("auto", "always"))
      inLittleMemory(onHeap :+ (PlaitConf.RadixJoin -> radix): _*) { session =>
        for ((sql, rows) <- all) {
          assertEquals(run(session, sql)._1, rows, sql)
          assert(session.sql(sql).queryExecution.executedPlan.toString.contains("comes by key"))
        }
      }
  }

  test("of sides that come by key neither do those of a key") {
    val all = ofSparkAlone(Seq("INNER", "FULL", "LEFT ANTI").map(byKey))
    inLittleMemory(onHeap: _*) { session =>
      for ((sql, rows) <- all) {
        val (found, spilled) = run(session, sql)
        assertEquals(found, rows, sql)
        assert(spilled.exists(_ > 100000), s"$spilled bytes spilled: $sql")
        session.conf.set(PlaitConf.RadixJoin, "always")
        assertEquals(run(session, sql)._1, rows, sql)
        session.conf.unset(PlaitConf.RadixJoin)
        assert(session.sql(sql).queryExecution.executedPlan.toString.contains("comes by key"))
      }
    }
  }

  test("a side that is not read to its end leaves nothing in memory: 64 joins in one task") {
    def numbered(rows: Int) =
      s"(SELECT *, count(*) OVER (PARTITION BY k ORDER BY id) AS n FROM (SELECT id, id * 3 AS k, id AS t, repeat('x', 30) AS p FROM range(0, $rows, 1, 2)))"
    for ((left, right) <- Seq((12000, 1000), (1000, 12000))) {
      val sql =
        s"SELECT /*+ COALESCE(1) */ l.id, r.n, l.p, r.p AS q FROM ${numbered(left)} l JOIN ${numbered(right)} r " +
          "ON l.k = r.k AND r.t BETWEEN l.t - 2 AND l.t + 2 AND l.n + r.n > 0"
      val inOne =
        Seq("spark.sql.shuffle.partitions" -> "64", "spark.sql.adaptive.enabled" -> "false")
      inLittleMemory(onHeap ++ inOne: _*) { session =>
        val df = session.sql(s"SELECT count(*), sum(id), sum(n) FROM ($sql)")
        assertEquals(df.collect().toSeq, Seq(Row(1000L, 499500L, 1000L)))
        val read = collect(df.queryExecution.executedPlan) { case join: SymmetricHashJoinExec =>
          Side.both.map(side => join.metrics(JoinMetrics.rowsIn(side)).value).sum
        }
        assert(read.exists(rows => rows > 2000 && rows < 4000), s"$read")
        val spilled = collect(df.queryExecution.executedPlan) { case sort: SortExec =>
          sort.metrics("spillSize").value
        }
        assertEquals(spilled, Seq(0L, 0L))
      }
    }
  }

  private lazy val rowsOfRanges = ofSparkAlone(existence +: types.map(inRanges))

  for ((mode, settings) <- Seq("on heap" -> onHeap, "off heap" -> offHeap))
    test(
      s"rows of an existence join, and of each type without an equality, go to disk, too ($mode)"
    ) {
      val all = rowsOfRanges
      val always =
        Seq("spark.plait.join.strategy" -> "always", "spark.sql.shuffle.partitions" -> "2")
      inLittleMemory(settings ++ always: _*) { session =>
        for ((sql, expected) <- all) {
          val (found, spilled) = run(session, sql)
          assertEquals(found, expected, sql)
          assert(spilled.exists(_ > 100000), s"$spilled bytes spilled: $sql")
        }
      }
    }

  for ((mode, settings) <- Seq("on heap" -> onHeap, "off heap" -> offHeap))
    test(
      s"rows are joined by bucket where they fit, and by rank where they do not ($mode)"
    ) {
      val small = query("FULL", never).replace("range(10000)", "range(6000)")
      for ((memory, isByBucket) <- Seq("30000000" -> true, "3000000" -> false)) {
        val all = Seq(
          "spark.testing.memory" -> memory,
          "spark.memory.offHeap.size" -> memory,
          PlaitConf.RadixJoin -> "always"
        )
        inLittleMemory(settings.filterNot(_._1.endsWith("size")) ++ all: _*) { session =>
          val df = session.sql(small)
          assertEquals(df.collect().toSeq, ofSpark(session, small))
          val byBucket = rowsInBuckets(df)
          assertEquals(byBucket.exists(_ > 0), isByBucket, s"$memory bytes: $byBucket")
        }
      }
    }

  test(
    "rows of one key, whose bucket would have no room, are joined by rank where those of many are not"
  ) {
    // Each time comes once a side: a row meets itself alone, or those of two before it and two behind.
    for (
      (key, isByBucket, pairs) <- Seq(("id * 2", true, 20000L), ("id % 1", false, 5 * 20000L - 6))
    ) {
      val rows = s"(SELECT id, $key AS k, id * 7919 % 20000 AS t FROM range(20000))"
      val sql = "SELECT /*+ SYMMETRIC_HASH(l, r) */ count(*), max(l.id), max(r.id) " +
        s"FROM $rows l JOIN $rows r ON l.k = r.k AND r.t BETWEEN l.t - 2 AND l.t + 2"
      val memory = "spark.testing.memory" -> "7200000"
      inLittleMemory(onHeap :+ memory :+ (PlaitConf.RadixJoin -> "always"): _*) { session =>
        val df = session.sql(sql)
        assertEquals(df.collect().toSeq, Seq(Row(pairs, 19999L, 19999L)))
        val byBucket = rowsInBuckets(df)
        assertEquals(byBucket.map(_ > 0), Seq(isByBucket), s"$key: $byBucket")
      }
    }
  }

  test("rows that would fit go to disk to make room for their index") {
    inLittleMemory(onHeap: _*) { session =>
      // 40 bytes a row, and some 60 for its entry, its run and its key: of 1.8 MB rows take 1 MB.
      val rows = "(SELECT id, id % 6000 AS k FROM range(13000))"
      val sql = "SELECT /*+ SYMMETRIC_HASH(l, r) */ count(*), sum(hash(l.id, r.id)) " +
        s"FROM $rows l JOIN $rows r ON l.k = r.k"
      val (found, spilled) = run(session, sql)
      assertEquals(found, ofSpark(session, sql))
      assert(spilled.exists(_ > 100000), s"$spilled bytes spilled")
    }
  }

  // The aggregation takes memory while it has both rows of a pair, or one alone, in its hands.
  private def asOf(pairs: String): String =
    "SELECT count(*), sum(h) FROM (SELECT id, max(hash(id, coalesce(lp, 'none'), rid, rp)) AS h " +
      s"FROM ($pairs) GROUP BY id)"

  private def asOfJoin(how: String): String = asOf(
    "SELECT coalesce(l.id, -r.id) AS id, l.payload AS lp, r.id AS rid, r.payload AS rp " +
      s"FROM ${table("l")} $how ASOF JOIN ${table("r")} MATCH_CONDITION (l.t >= r.t) ON l.k = r.k"
  )

  // The same by windows: of the right rows of a time the one with the greatest id.
  private def asOfWindow(how: String): String = {
    val newest = "SELECT k, t, max(struct(id, payload)) AS r FROM " + table("r") +
      " WHERE k IS NOT NULL AND t IS NOT NULL GROUP BY k, t"
    val found = "SELECT id, payload, last_value(r) IGNORE NULLS OVER (PARTITION BY k ORDER BY t, " +
      "isLeft ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS r, k, t, isLeft FROM (" +
      s"SELECT id, payload, k, t, NULL AS r, 1 AS isLeft FROM ${table("l")} " +
      s"UNION ALL SELECT NULL, NULL, k, t, r, 0 FROM ($newest))"
    val ofLeft = "SELECT id, payload, IF(k IS NULL OR t IS NULL, NULL, r) AS r " +
      s"FROM ($found) WHERE isLeft = 1"
    val left = s"SELECT id, payload AS lp, r.id AS rid, r.payload AS rp FROM ($ofLeft)"
    val alone = s"SELECT -id, NULL, id, payload FROM ${table("r")} " +
      s"LEFT ANTI JOIN (SELECT r.id AS rid FROM ($ofLeft)) ON id = rid"
    asOf(if (how == "FULL") s"$left UNION ALL $alone" else left)
  }

  // Off heap, where memory that was given back is soon another's. Spark's windows need more of it.
  for (how <- Seq("LEFT", "FULL"))
    test(s"rows of a $how ASOF JOIN that do not fit go to disk while its pairs are in use") {
      val rows = inLittleMemory("spark.testing.memory" -> "300000000")(ofSpark(_, asOfWindow(how)))
      inLittleMemory(offHeap: _*) { session =>
        val df = session.sql(asOfJoin(how))
        assertEquals(df.collect().toSeq, rows)
        val spilled = collect(df.queryExecution.executedPlan) { case join: AsOfJoinExec =>
          join.metrics(JoinMetrics.SpillSize).value
        }
        assert(spilled.exists(_ > 100000), s"$spilled bytes spilled")
      }
    }

  for (encrypted <- Seq("false", "true"))
    test(s"what is spilled shows on disk unless Spark encrypts its files: $encrypted") {
      val folder = Files.createTempDirectory("plait").toString
      val settings = onHeap ++ Seq(
        "spark.io.encryption.enabled" -> encrypted,
        "spark.local.dir" -> folder
      )
      inLittleMemory(settings: _*) { session =>
        session.udf.register(
          "plain",
          (id: Long) => if (id % 1999 == 0) SpillSuite.plain(folder) else 0L
        )
        val sql = query("INNER", never)
        val (rows, spilled) = run(session, sql)
        assertEquals(rows, expected.getOrElseUpdate(sql, ofSpark(session, sql)))
        assert(spilled.exists(_ > 100000), s"$spilled bytes spilled")
        val looking = sql.replace("count(*)", "max(plain(l.id))")
        assertEquals(run(session, looking)._1.head.getLong(0) > 0, encrypted == "false")
      }
    }
}

private object SpillSuite {

  /** Of the files below a folder those that show a payload as it is; Spark's shuffle compresses its own. */
  def plain(folder: String): Long = {
    val files = Files.walk(Paths.get(folder))
    try
      files
        .filter(Files.isRegularFile(_))
        .filter(file => new String(Files.readAllBytes(file), ISO_8859_1).contains("x" * 200))
        .count()
    finally files.close()
  }
}
