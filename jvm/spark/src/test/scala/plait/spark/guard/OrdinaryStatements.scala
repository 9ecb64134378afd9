// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

/** Examples: what people send, scope by scope. */
class OrdinaryStatements extends GuardSuite {
  override def beforeAll(): Unit = {
    val s = client
    run("CREATE DATABASE IF NOT EXISTS d")
    run("USE d")
    for (name <- Seq("t", "u", "l", "r"))
      run(
        s"CREATE TABLE $name (a INT, b INT, c STRING, k INT, j INT, ts TIMESTAMP, seq BIGINT) USING parquet"
      )
    run("CREATE TABLE p (a INT, dt STRING) USING parquet PARTITIONED BY (dt)")
    run("CREATE VIEW v AS SELECT a, input_file_name() AS f, current_user() AS who FROM t")
    run("CREATE GLOBAL TEMPORARY VIEW shared AS SELECT reflect('java.lang.Math', 'abs', -1) AS x")
    run("DECLARE VARIABLE n INT DEFAULT 5")
    s.udf.register("server_made", (x: Int) => x + 1)
    import s.implicits._
    Seq(1, 2).toDF("a").createOrReplaceTempView("rows")
    ()
  }

  override def afterAll(): Unit = {
    run("DROP VIEW global_temp.shared")
    run("DROP DATABASE d CASCADE")
    ()
  }

  private val read = """
    SELECT 1
    SELECT a, count(*) FILTER (WHERE b > 1), sum(DISTINCT b) FROM t GROUP BY a HAVING count(*) > 1
    SELECT a, b, sum(k) FROM t GROUP BY ROLLUP (a, b)
    SELECT a, rank() OVER (PARTITION BY b ORDER BY c DESC) FROM t
    SELECT * FROM t WHERE a IN (SELECT a FROM u) AND NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)
    SELECT (SELECT max(a) FROM u WHERE u.b = t.b) FROM t
    WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
    SELECT * FROM t LATERAL VIEW OUTER explode(array(a)) e AS x
    SELECT * FROM t, LATERAL (SELECT t.a + 1 AS x) y
    SELECT * FROM t PIVOT (sum(a) FOR k IN (1, 2))
    SELECT * FROM (SELECT a, b FROM t) UNPIVOT INCLUDE NULLS (x FOR n IN (a, b))
    SELECT * FROM t TABLESAMPLE (10 PERCENT)
    SELECT * FROM range(1, 10)
    SELECT * FROM explode(array(1, 2)) AS e(x)
    SELECT * FROM sql_keywords()
    FROM t |> WHERE a > 1 |> SELECT a, b |> AGGREGATE sum(a) AS s GROUP BY b |> ORDER BY s |> LIMIT 5
    TABLE t
    VALUES (1, 'a'), (2, 'b')
    SELECT * FROM IDENTIFIER('d.t') WHERE IDENTIFIER('a') = 1
    SELECT IDENTIFIER('abs')(-1)
    SELECT /*+ BROADCAST(t), REPARTITION(5, a) */ * FROM t
    SELECT transform(array(1), x -> x + 1), aggregate(array(1), 0, (x, y) -> x + y)
    SELECT from_json('{"a": 1}', 'a INT'), from_json('{}', schema_of_json('{"a": 1}')), from_csv('1', 'a INT', map('sep', ';'))
    SELECT to_json(named_struct('a', 1), map('ignoreNullFields', 'false')), from_xml('<p><a>1</a></p>', 'a INT')
    SELECT parse_json('{"a": 1}'):a::INT, get_json_object('{}', '$.a'), schema_of_xml('<a>b</a>')
    SELECT aes_encrypt('x', '0123456789abcdef'), sha2('x', 256), uuid(), rand(1), version(), current_catalog()
    SELECT current_timestamp(), date_trunc('DAY', ts), make_interval(1), extract(YEAR FROM ts) FROM t
    SELECT listagg(c, ',') WITHIN GROUP (ORDER BY b), percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t
    SELECT server_made(a) FROM t
    SELECT * FROM v
    SELECT * FROM global_temp.shared
    SELECT * FROM rows
    SELECT n + 1
    SELECT * FROM l JOIN r ON l.k = r.k AND l.ts BETWEEN r.ts - INTERVAL 5 MINUTES AND r.ts
    SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts TOLERANCE INTERVAL 5 SECONDS) ON l.k = r.k
    SELECT * FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts TIES ORDER BY r.seq) USING (k)
    SELECT * FROM l ASOF JOIN r MATCH_CONDITION (NEAREST (l.seq, r.seq)) ON l.k = r.k
    SELECT * FROM l JOIN r FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k
    SELECT * FROM l JOIN r FOR SYSTEM_TIME AS OF PROCTIME() AS r ON l.k = r.k
    SELECT /*+ VERSIONED(r, ts), VERSION_KEY(r, k) */ * FROM l JOIN r FOR SYSTEM_TIME AS OF l.ts ON l.k = r.k
    SELECT /*+ ORDERED(l, 'seq DESC', 5), SYMMETRIC_HASH(l, r) */ l.a FROM l JOIN r ON l.k = r.k AND l.seq < r.seq
    SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE)
    SELECT * FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE, INTERVAL 2 MINUTES)
    SELECT * FROM CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE, INTERVAL 2 MINUTES)
    SELECT * FROM SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL 5 MINUTES)
    SELECT window(ts, '1 minute'), count(*) FROM t GROUP BY 1
    EXPLAIN SELECT * FROM t
    EXPLAIN FORMATTED SELECT * FROM l JOIN r USING (k)
    EXPLAIN SELECT * FROM missing
    SHOW TABLES
    SHOW TABLES IN d LIKE 't*'
    SHOW DATABASES
    SHOW CATALOGS
    SHOW VIEWS
    SHOW FUNCTIONS LIKE 'a*'
    SHOW COLUMNS IN t
    SHOW CREATE TABLE t
    SHOW PARTITIONS p
    SHOW TBLPROPERTIES t
    SHOW CURRENT NAMESPACE
    SHOW TABLE EXTENDED LIKE 't'
    DESCRIBE t
    DESCRIBE EXTENDED t
    DESCRIBE t a
    DESCRIBE FUNCTION EXTENDED abs
    DESCRIBE DATABASE d
    DESCRIBE QUERY SELECT a FROM t
    DESCRIBE EXTENDED t AS JSON
    USE d
    USE spark_catalog.d
    DECLARE OR REPLACE VARIABLE x INT DEFAULT 5
    SET VAR n = (SELECT max(a) FROM t)
    DROP TEMPORARY VARIABLE IF EXISTS x
    CREATE OR REPLACE TEMPORARY VIEW w (a COMMENT 'x') AS SELECT a FROM t
    CREATE TEMPORARY FUNCTION plus_one(x INT) RETURNS INT RETURN x + 1
    CREATE TEMPORARY FUNCTION rows_of(x INT) RETURNS TABLE (y INT) RETURN SELECT a FROM t WHERE a = x
    DROP TEMPORARY FUNCTION IF EXISTS server_made
    DROP VIEW rows
    SET TIME ZONE 'Europe/Berlin'
    SET TIME ZONE INTERVAL 1 HOUR
    SET spark.sql.shuffle.partitions = 4
    SET spark.sql.shuffle.partitions
    SET spark.plait.join.strategy = always
    RESET spark.sql.shuffle.partitions
  """.linesIterator.map(_.trim).filter(_.nonEmpty).toSeq

  private val administer = """
    CREATE DATABASE e
    DROP DATABASE IF EXISTS e CASCADE
    ALTER DATABASE d SET DBPROPERTIES (x = 'y')
    COMMENT ON TABLE t IS 'x'
    CREATE TABLE n (a INT NOT NULL, b STRING DEFAULT 'x') USING parquet PARTITIONED BY (a) TBLPROPERTIES ('plait.ordered-by' = 'a')
    CREATE TABLE n USING csv OPTIONS (header = 'true', sep = ';') AS SELECT * FROM t
    CREATE TABLE n LIKE t
    CREATE VIEW n AS SELECT a FROM t
    CREATE GLOBAL TEMPORARY VIEW n AS SELECT 1
    CREATE FUNCTION n(x INT) RETURNS INT RETURN x + 1
    ALTER VIEW v AS SELECT 2
    DROP VIEW v
    DROP TABLE t
    DROP TABLE IF EXISTS missing
    DROP VIEW global_temp.shared
    ALTER TABLE t RENAME TO n
    ALTER TABLE t ADD COLUMNS (x INT)
    ALTER TABLE t SET TBLPROPERTIES ('plait.ordered-by' = 'seq DESC')
    ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a')
    ALTER TABLE p ADD PARTITION (dt = '2024-01-01')
    ALTER TABLE p DROP PARTITION (dt = '2024-01-01')
    MSCK REPAIR TABLE p
    REFRESH TABLE t
    ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a, b
    TRUNCATE TABLE t
    INSERT INTO u SELECT * FROM t
    INSERT INTO t (a) VALUES (1)
    INSERT OVERWRITE TABLE p PARTITION (dt = '1') SELECT a FROM u
    FROM t INSERT INTO u SELECT * WHERE a > 1 INSERT INTO l SELECT *
    EXPLAIN INSERT INTO t SELECT * FROM t
    CACHE TABLE t
    CACHE LAZY TABLE n OPTIONS ('storageLevel' = 'DISK_ONLY') AS SELECT 1
    UNCACHE TABLE IF EXISTS t
    CLEAR CACHE
  """.linesIterator.map(_.trim).filter(_.nonEmpty).toSeq

  test("queries, EXPLAIN, SHOW, DESCRIBE and the client's own session are open to every scope") {
    assertOutcomes(read.map(_ -> "admitted"), reader)
    assertOutcomes(read.map(_ -> "admitted"), grant(Scope.Stream))
    assertOutcomes(read.map(_ -> "admitted"), grant(Scope.Admin))
  }

  test("they are admitted without ANSI mode as with it") {
    client.conf.set("spark.sql.ansi.enabled", "false")
    try assertOutcomes(read.map(_ -> "admitted"), reader)
    finally client.conf.unset("spark.sql.ansi.enabled")
  }

  test("what changes the catalog, its rows or the cache needs the scope admin") {
    assertOutcomes(administer.map(_ -> "admitted"), admin)
    assertOutcomes(administer.map(_ -> "SCOPE_NOT_GRANTED"), reader)
    assertOutcomes(administer.map(_ -> "SCOPE_NOT_GRANTED"), grant(Scope.Read, Scope.Stream))
  }

  test("a query over a stream needs the scope stream") {
    val streams =
      Seq("SELECT * FROM STREAM t", "CREATE TEMPORARY VIEW s AS SELECT a FROM STREAM(t)")
    assertOutcomes(streams.map(_ -> "SCOPE_NOT_GRANTED"), reader)
    assertOutcomes(streams.map(_ -> "SCOPE_NOT_GRANTED"), grant(Scope.Admin))
    assertOutcomes(streams.map(_ -> "admitted"), grant(Scope.Stream))
  }

  test("without a scope nothing is admitted") {
    assertOutcomes(read.map(_ -> "SCOPE_NOT_GRANTED"), grant())
  }

  test("faults of a statement are told by Spark, in its own words") {
    val faults = Seq(
      "SELEC 1",
      "SELECT missing FROM t",
      "SELECT * FROM nowhere",
      "SELECT * FROM nodb.nowhere",
      "SELECT no_such_function(1)",
      "SELECT 1 +",
      "SELECT :p",
      "SELECT * FROM range('x', 'y', 'z', 'q', 'r')"
    )
    assertOutcomes(faults.map(_ -> "Spark's"), admin)
  }
}
