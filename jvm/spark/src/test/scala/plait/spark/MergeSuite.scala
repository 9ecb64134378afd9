// SPDX-License-Identifier: Apache-2.0
// Oracle: MERGE with our clauses in it does what Spark's own MERGE does with the rows that they give.
package plait.spark

import org.apache.spark.sql.Row

class MergeSuite extends SparkSuite {
  private val forms = Seq(
    "an as-of join" ->
      "SELECT l.id, r.v FROM merge_l l LEFT ASOF JOIN merge_r r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k",
    "a temporal join" ->
      """SELECT /*+ VERSIONED(r, ts) */ l.id, r.v FROM merge_l l
        JOIN merge_r FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k""",
    "a window join" ->
      """SELECT l.id, max(r.v) AS v FROM TUMBLE(merge_l, ts, INTERVAL 10 SECONDS) l
        JOIN TUMBLE(merge_r, ts, INTERVAL 10 SECONDS) r ON l.k = r.k AND l.window_start = r.window_start
        GROUP BY l.id""",
    "an interval join" ->
      """SELECT /*+ SYMMETRIC_HASH(l, r) */ l.id, min(r.v) AS v FROM merge_l l
        JOIN merge_r r ON l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL 5 SECONDS AND l.ts GROUP BY l.id"""
  )

  private def rowsOf(table: String): Seq[Row] =
    spark.sql(s"SELECT * FROM $table ORDER BY id").collect().toSeq

  private def drop(table: String): Unit = { val _ = spark.sql(s"DROP TABLE $table") }

  private def merged(table: String, source: String): Seq[Row] = {
    spark.sql(s"CREATE TABLE $table (id INT, v INT)")
    try {
      spark.sql(s"INSERT INTO $table VALUES (1, -1), (2, -2), (5, -5), (6, NULL)")
      spark.sql(s"""MERGE INTO $table t USING ($source) s ON t.id = s.id
        WHEN MATCHED AND s.v > 12 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v
        WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0""")
      rowsOf(table)
    } finally drop(table)
  }

  override def beforeAll(): Unit = {
    spark.conf.set("spark.sql.catalog.rewritten", classOf[RewrittenTables].getName)
    for (
      (name, rows) <- Seq(
        "merge_l" -> "(1, 'a', 5), (2, 'a', 12), (3, 'b', 9), (4, NULL, 9), (7, 'b', 30)",
        "merge_r" -> "(11, 'a', 5), (13, 'a', 12), (12, 'b', 8), (14, NULL, 9)"
      )
    ) {
      val columns = if (name == "merge_l") "id, k, s" else "v, k, s"
      spark.sql(
        s"CREATE OR REPLACE TEMP VIEW $name AS SELECT *, timestamp_seconds(s) AS ts FROM VALUES $rows AS t($columns)"
      )
    }
  }

  for ((name, query) <- forms) {
    test(s"MERGE INTO a table USING $name does what it does with the rows of that join") {
      val rows = spark.sql(query).collect().toSeq
      assert(rows.nonEmpty)
      val written = rows.map(_.toSeq.map(v => s"cast($v AS INT)").mkString("(", ", ", ")"))
      val values = s"SELECT * FROM VALUES ${written.mkString(", ")} AS s(id, v)"
      val expected = merged("rewritten.plain", values)
      assert(expected.exists(_.getInt(0) == 6), "rows without a match are there")
      assertEquals(merged("rewritten.ours", query), expected)
    }

    test(s"DELETE and UPDATE of a table by $name in their conditions reach the rows of that join") {
      spark.sql("CREATE TABLE rewritten.d (id INT, v INT)")
      try {
        spark.sql("INSERT INTO rewritten.d VALUES (1, 0), (2, 0), (3, 0), (99, 0)")
        val matched = spark.sql(query).collect().filterNot(_.isNullAt(1)).map(_.getInt(0)).toSet
        spark.sql(
          s"UPDATE rewritten.d SET v = 1 WHERE id IN (SELECT id FROM ($query) WHERE v IS NOT NULL)"
        )
        assertEquals(
          rowsOf("rewritten.d"),
          Seq(1, 2, 3, 99).map(id => Row(id, if (matched(id)) 1 else 0))
        )
        spark.sql(
          s"DELETE FROM rewritten.d WHERE id IN (SELECT id FROM ($query) WHERE v IS NOT NULL)"
        )
        assertEquals(rowsOf("rewritten.d").map(_.getInt(0)), Seq(1, 2, 3, 99).filterNot(matched))
      } finally drop("rewritten.d")
    }
  }
}
