// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.plait.StatementReading

/** Examples: statements that reach for the server's files, code and settings, and what becomes of each. */
class HostileStatements extends GuardSuite {
  override def beforeAll(): Unit = {
    run("CREATE DATABASE IF NOT EXISTS hostile")
    run("CREATE TABLE IF NOT EXISTS hostile.t (a INT, b STRING) USING parquet")
    run("USE hostile")
    run("CREATE TABLE IF NOT EXISTS plain (a STRING) USING csv")
    ()
  }

  override def afterAll(): Unit = {
    run("DROP DATABASE hostile CASCADE")
    ()
  }

  private val never = table("""
    STATEMENT_NOT_ALLOWED  ADD JAR '/tmp/x.jar'
    STATEMENT_NOT_ALLOWED  ADD FILE '/etc/passwd'
    STATEMENT_NOT_ALLOWED  ADD ARCHIVE '/tmp/x.zip'
    STATEMENT_NOT_ALLOWED  LIST JARS
    STATEMENT_NOT_ALLOWED  LIST FILES
    STATEMENT_NOT_ALLOWED  LIST ARCHIVES
    STATEMENT_NOT_ALLOWED  EXPLAIN ADD JAR '/tmp/x.jar'
    STATEMENT_NOT_ALLOWED  CREATE FUNCTION f AS 'a.B'
    STATEMENT_NOT_ALLOWED  CREATE FUNCTION f AS 'a.B' USING JAR '/tmp/x.jar'
    STATEMENT_NOT_ALLOWED  CREATE TEMPORARY FUNCTION f AS 'a.B'
    STATEMENT_NOT_ALLOWED  CREATE OR REPLACE TEMPORARY FUNCTION f AS 'a.B' USING FILE '/tmp/x'
    STATEMENT_NOT_ALLOWED  CALL system.purge('t')
    STATEMENT_NOT_ALLOWED  EXPLAIN CALL system.purge('t')
    STATEMENT_NOT_ALLOWED  EXECUTE IMMEDIATE 'DROP TABLE t'
    STATEMENT_NOT_ALLOWED  EXECUTE IMMEDIATE 'SELECT ?' USING 1
    STATEMENT_NOT_ALLOWED  REFRESH '/etc'
    SCRIPT_NOT_ALLOWED     BEGIN SELECT 1; END
    SCRIPT_NOT_ALLOWED     BEGIN DROP TABLE t; END
    SCRIPT_NOT_ALLOWED     SELECT TRANSFORM (a) USING 'cat /etc/passwd' AS (x STRING) FROM t
    SCRIPT_NOT_ALLOWED     SELECT * FROM (SELECT TRANSFORM (a) USING 'sh' AS (x STRING) FROM t)
    SCRIPT_NOT_ALLOWED     FROM t MAP a USING 'sh' AS x
    SCRIPT_NOT_ALLOWED     FROM t REDUCE a USING 'sh' AS x
    SCRIPT_NOT_ALLOWED     CREATE TEMPORARY VIEW v AS SELECT TRANSFORM (a) USING 'sh' AS (x STRING) FROM t
    SCRIPT_NOT_ALLOWED     INSERT INTO t SELECT TRANSFORM (a) USING 'sh' AS (x INT, y STRING) FROM t
    SCRIPT_NOT_ALLOWED     SELECT 1 WHERE 1 IN (SELECT TRANSFORM (a) USING 'sh' AS (x INT) FROM t)
    FUNCTION_NOT_ALLOWED   SELECT reflect('java.lang.System', 'exit', 1)
    FUNCTION_NOT_ALLOWED   SELECT java_method('java.lang.System', 'getenv', 'HOME')
    FUNCTION_NOT_ALLOWED   SELECT try_reflect('java.lang.System', 'getenv', 'HOME')
    FUNCTION_NOT_ALLOWED   SELECT `REFLECT`('java.lang.System', 'getenv', 'HOME')
    FUNCTION_NOT_ALLOWED   SELECT system.builtin.reflect('java.lang.System', 'getenv', 'HOME')
    FUNCTION_NOT_ALLOWED   SELECT IDENTIFIER('reflect')('java.lang.System', 'getenv', 'HOME')
    NAME_NOT_ALLOWED       SELECT IDENTIFIER('java_' || 'method')('java.lang.System', 'getenv', 'HOME')
    FUNCTION_NOT_ALLOWED   SELECT * FROM range(CAST(reflect('java.lang.System', 'nanoTime') AS INT))
    FUNCTION_NOT_ALLOWED   SELECT * FROM t WHERE EXISTS (SELECT reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   SELECT (SELECT max(reflect('a.B', 'c')) FROM t)
    FUNCTION_NOT_ALLOWED   SELECT transform(array(1), x -> reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   SELECT a FROM t GROUP BY a HAVING reflect('a.B', 'c') = 'x'
    FUNCTION_NOT_ALLOWED   SELECT a FROM t ORDER BY reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   SELECT * FROM t LIMIT length(reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   SELECT sum(a) OVER (ORDER BY reflect('a.B', 'c')) FROM t
    FUNCTION_NOT_ALLOWED   SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   VALUES (1), (reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   WITH x AS (SELECT reflect('a.B', 'c')) SELECT 1
    FUNCTION_NOT_ALLOWED   SELECT * FROM t PIVOT (max(reflect('a.B', 'c')) FOR a IN (1, 2))
    FUNCTION_NOT_ALLOWED   SELECT * FROM t TIMESTAMP AS OF reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   FROM t |> EXTEND reflect('a.B', 'c') AS x
    FUNCTION_NOT_ALLOWED   SELECT * FROM t LATERAL VIEW explode(array(reflect('a.B', 'c'))) e AS x
    FUNCTION_NOT_ALLOWED   SELECT * FROM t JOIN t AS u ON t.a = u.a AND reflect('a.B', 'c') = 'x'
    FUNCTION_NOT_ALLOWED   SELECT * FROM t l ASOF JOIN t r MATCH_CONDITION (l.a >= length(reflect('a.B', 'c'))) ON l.b = r.b
    FUNCTION_NOT_ALLOWED   SELECT * FROM t l ASOF JOIN t r MATCH_CONDITION (l.a >= r.a TOLERANCE reflect('a.B', 'c')) USING (b)
    FUNCTION_NOT_ALLOWED   SELECT * FROM t l JOIN t FOR SYSTEM_TIME AS OF reflect('a.B', l.b) AS r ON l.b = r.b
    FUNCTION_NOT_ALLOWED   SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(a), reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   SELECT /*+ ORDERED(t, (reflect('a.B', 'c'))) */ * FROM t
    FUNCTION_NOT_ALLOWED   EXPLAIN SELECT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   EXPLAIN EXTENDED SELECT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   DESCRIBE QUERY SELECT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   DECLARE VARIABLE v STRING DEFAULT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   SET VAR v = reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   CREATE TEMPORARY VIEW v AS SELECT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   CREATE VIEW v AS SELECT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   CREATE TEMPORARY FUNCTION f() RETURNS STRING RETURN reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   CREATE TEMPORARY FUNCTION f(x STRING DEFAULT reflect('a.B', 'c')) RETURNS STRING RETURN x
    FUNCTION_NOT_ALLOWED   CREATE TEMPORARY FUNCTION f() RETURNS TABLE (x STRING) RETURN SELECT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   CREATE FUNCTION f() RETURNS STRING RETURN reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   CREATE TEMPORARY FUNCTION map(x INT) RETURNS INT RETURN x
    FUNCTION_NOT_ALLOWED   CREATE TABLE u (a STRING DEFAULT reflect('a.B', 'c')) USING parquet
    FUNCTION_NOT_ALLOWED   CREATE TABLE u USING parquet AS SELECT reflect('a.B', 'c') AS x
    FUNCTION_NOT_ALLOWED   CREATE TABLE u (a INT) USING parquet OPTIONS (header = reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   INSERT INTO t VALUES (1, reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   CACHE TABLE c AS SELECT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   ALTER TABLE t ADD COLUMNS (x STRING DEFAULT reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   ALTER TABLE t ALTER COLUMN b SET DEFAULT reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   ALTER TABLE t ADD CONSTRAINT c CHECK (reflect('a.B', 'c') = 'x')
    FUNCTION_NOT_ALLOWED   INSERT INTO t REPLACE WHERE reflect('a.B', 'c') = 'x' SELECT * FROM t
    FUNCTION_NOT_ALLOWED   CREATE TABLE u (a STRING, b STRING GENERATED ALWAYS AS (reflect('a.B', a))) USING parquet
    FUNCTION_NOT_ALLOWED   SELECT a FROM t QUALIFY row_number() OVER (ORDER BY reflect('a.B', 'c')) = 1
    FUNCTION_NOT_ALLOWED   SELECT count(*) FILTER (WHERE reflect('a.B', 'c') = 'x') FROM t
    FUNCTION_NOT_ALLOWED   SELECT * FROM t TABLESAMPLE (5 ROWS) WHERE b = reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   SELECT * FROM json_tuple(reflect('a.B', 'c'), 'x')
    FUNCTION_NOT_ALLOWED   SELECT * FROM t, LATERAL (SELECT reflect('a.B', 'c')) x
    FUNCTION_NOT_ALLOWED   SELECT 1 UNION ALL SELECT length(reflect('a.B', 'c'))
    FUNCTION_NOT_ALLOWED   DELETE FROM t WHERE reflect('a.B', 'c') = 'x'
    FUNCTION_NOT_ALLOWED   UPDATE t SET b = reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   MERGE INTO t USING t AS u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = reflect('a.B', 'c')
    FUNCTION_NOT_ALLOWED   SELECT input_file_name() FROM t
    FUNCTION_NOT_ALLOWED   SELECT input_file_block_start() FROM t
    FUNCTION_NOT_ALLOWED   SELECT input_file_block_length() FROM t
    FUNCTION_NOT_ALLOWED   SELECT _metadata.file_path FROM t
    FUNCTION_NOT_ALLOWED   SELECT current_user()
    FUNCTION_NOT_ALLOWED   SELECT session_user
    FUNCTION_NOT_ALLOWED   SELECT user()
    FUNCTION_NOT_ALLOWED   SELECT * FROM python_worker_logs()
    FUNCTION_NOT_ALLOWED   SELECT from_protobuf(b, 'm', '/etc/passwd') FROM t
    FUNCTION_NOT_ALLOWED   SELECT to_protobuf(b, 'm', '/etc/passwd') FROM t
    FUNCTION_NOT_ALLOWED   SELECT xpath('<a/>', 'a')
    FUNCTION_NOT_ALLOWED   SELECT xpath_boolean(b, 'a'), a FROM t
    FUNCTION_NOT_ALLOWED   SELECT xpath_number(b, 'a') FROM t
    FUNCTION_NOT_ALLOWED   SELECT xpath_string('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x"><a/>', 'a')
    FUNCTION_NOT_ALLOWED   EXPLAIN SELECT xpath_string('<!DOCTYPE a SYSTEM "file:/etc/passwd"><a/>', 'a')
    FUNCTION_NOT_ALLOWED   SELECT * FROM range(xpath_int('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x"><a>1</a>', 'a'))
    FUNCTION_NOT_ALLOWED   SELECT from_json('{}', '{"type":"struct","fields":[{"name":"a","type":"string","nullable":true,"metadata":{"EXISTS_DEFAULT":"reflect(1)"}}]}')
    FUNCTION_NOT_ALLOWED   SELECT from_json('{}', concat('a ', 'INT'))
    OPTION_NOT_ALLOWED     SELECT from_xml(b, 'a INT', map('rowValidationXSDPath', '/etc/passwd')) FROM t
    OPTION_NOT_ALLOWED     SELECT schema_of_xml('<a/>', map('rowValidationXSDPath', '/etc/passwd'))
    OPTION_NOT_ALLOWED     SELECT schema_of_xml('<a/>', map('row' || 'ValidationXSDPath', '/etc/passwd'))
    OPTION_NOT_ALLOWED     SELECT from_xml(b, 'a INT', map_from_arrays(array('rowValidationXSDPath'), array('/etc'))) FROM t
    OPTION_NOT_ALLOWED     SELECT from_avro(unhex(b), '{"type":"string"}', map('avroSchemaUrl', 'file:/etc/passwd')) FROM t
    OPTION_NOT_ALLOWED     SELECT * FROM t WITH ('parquet.crypto.factory.class' = 'a.B')
    OPTION_NOT_ALLOWED     INSERT INTO t WITH ('parquet.crypto.factory.class' = 'a.B') SELECT 1, 'x'
    OPTION_NOT_ALLOWED     SELECT * FROM t WITH ('path' = '/etc/passwd')
    OPTION_NOT_ALLOWED     SELECT * FROM plain WITH ('pATH' = '/etc/passwd', header = 'false', sep = '|', quote = '"', escape = '!')
    OPTION_NOT_ALLOWED     SELECT * FROM STREAM plain WITH ('pATH' = '/etc', header = 'false', sep = '|', quote = '"', escape = '!')
    OPTION_NOT_ALLOWED     INSERT OVERWRITE plain WITH ('pATH' = '/tmp/x', header = 'false', sep = '|', quote = '"', escape = '!') SELECT 'x'
    OPTION_NOT_ALLOWED     INSERT INTO plain WITH (PATH = '/tmp/x') SELECT 'x'
    OPTION_NOT_ALLOWED     EXPLAIN SELECT * FROM plain WITH ('Path' = '/etc/passwd')
    OPTION_NOT_ALLOWED     CREATE TEMPORARY VIEW v AS SELECT * FROM plain WITH ('paTh' = '/etc/passwd')
    OPTION_NOT_ALLOWED     CREATE TABLE u (a INT) USING csv TBLPROPERTIES ('option.path' = '/etc')
    OPTION_NOT_ALLOWED     ALTER TABLE t SET TBLPROPERTIES ('OPTION.paTH' = '/etc')
    OPTION_NOT_ALLOWED     SELECT from_csv(b, 'a INT', map('path', '/etc/passwd')) FROM t
    OPTION_NOT_ALLOWED     CREATE TABLE u (a INT) USING csv OPTIONS ('fs.file.impl' = 'a.B')
    OPTION_NOT_ALLOWED     CREATE TABLE u (a INT) USING csv OPTIONS (compression = 'a.B')
    OPTION_NOT_ALLOWED     CREATE TABLE u (a INT) USING parquet TBLPROPERTIES ('option.fs.file.impl' = 'a.B')
    OPTION_NOT_ALLOWED     CREATE TABLE u (a INT) USING parquet TBLPROPERTIES ('avro.schema.url' = 'http://x')
    OPTION_NOT_ALLOWED     ALTER TABLE t SET TBLPROPERTIES ('fs.file.impl' = 'a.B')
    OPTION_NOT_ALLOWED     ALTER VIEW v SET TBLPROPERTIES ('view.sqlConfig.spark.sql.variable.substitute' = 'true')
    OPTION_NOT_ALLOWED     CACHE TABLE c OPTIONS ('fs.file.impl' = 'a.B') AS SELECT 1
    PATH_NOT_ALLOWED       SELECT * FROM csv.`/etc/passwd`
    PATH_NOT_ALLOWED       SELECT * FROM CSV.`/etc/passwd`
    PATH_NOT_ALLOWED       SELECT * FROM text.`file:///etc/passwd`
    PATH_NOT_ALLOWED       SELECT * FROM text.`FILE:///etc/passwd`
    PATH_NOT_ALLOWED       SELECT * FROM json.`hdfs://host/x`
    PATH_NOT_ALLOWED       SELECT * FROM parquet.`s3a://bucket/x`
    PATH_NOT_ALLOWED       SELECT * FROM orc.`http://host/x`
    PATH_NOT_ALLOWED       SELECT * FROM text.`relative`
    PATH_NOT_ALLOWED       SELECT * FROM text.`/et{c,x}/passwd`
    PATH_NOT_ALLOWED       SELECT * FROM STREAM text.`/etc`
    PATH_NOT_ALLOWED       SELECT * FROM IDENTIFIER('text.`/etc/passwd`')
    PATH_NOT_ALLOWED       SELECT (SELECT max(value) FROM text.`/etc/passwd`)
    PATH_NOT_ALLOWED       WITH x AS (SELECT * FROM text.`/etc/passwd`) SELECT 1
    PATH_NOT_ALLOWED       SELECT * FROM t WHERE a IN (SELECT value FROM text.`/etc/passwd`)
    PATH_NOT_ALLOWED       EXPLAIN SELECT * FROM text.`/etc/passwd`
    PATH_NOT_ALLOWED       DESCRIBE QUERY SELECT * FROM text.`/etc/passwd`
    PATH_NOT_ALLOWED       DESCRIBE TABLE text.`/etc/passwd`
    PATH_NOT_ALLOWED       TABLE text.`/etc/passwd`
    PATH_NOT_ALLOWED       SELECT * FROM text.`/etc/passwd` TIMESTAMP AS OF '2024-01-01'
    PATH_NOT_ALLOWED       SELECT * FROM TUMBLE(TABLE text.`/etc/passwd`, DESCRIPTOR(value), INTERVAL 1 MINUTE)
    PATH_NOT_ALLOWED       CREATE TEMPORARY VIEW v AS SELECT * FROM text.`/etc/passwd`
    PATH_NOT_ALLOWED       CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/etc/passwd')
    PATH_NOT_ALLOWED       CREATE TEMPORARY VIEW v USING csv OPTIONS ('PATH' '/etc/passwd')
    PATH_NOT_ALLOWED       CREATE TABLE u (a INT) USING csv OPTIONS (path '/etc')
    Spark's                CREATE TABLE u (a INT) USING csv OPTIONS (path = concat('/e', 'tc'))
    PATH_NOT_ALLOWED       CREATE TABLE u (a INT) USING parquet LOCATION '/etc'
    PATH_NOT_ALLOWED       CREATE TABLE u USING parquet LOCATION '/etc' AS SELECT 1
    PATH_NOT_ALLOWED       CREATE TABLE u LIKE t LOCATION '/etc'
    PATH_NOT_ALLOWED       CREATE DATABASE d LOCATION '/etc'
    PATH_NOT_ALLOWED       ALTER DATABASE hostile SET LOCATION '/etc'
    PATH_NOT_ALLOWED       ALTER TABLE t SET LOCATION '/etc'
    PATH_NOT_ALLOWED       ALTER TABLE t ADD PARTITION (a = 1) LOCATION '/etc'
    PATH_NOT_ALLOWED       INSERT OVERWRITE DIRECTORY '/tmp/out' USING csv SELECT 1
    PATH_NOT_ALLOWED       INSERT OVERWRITE LOCAL DIRECTORY '/tmp/out' USING csv SELECT 1
    PATH_NOT_ALLOWED       INSERT OVERWRITE DIRECTORY USING csv OPTIONS (path '/tmp/out') SELECT 1
    PATH_NOT_ALLOWED       INSERT INTO csv.`/tmp/out` SELECT 1
    PATH_NOT_ALLOWED       LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE t
    PATH_NOT_ALLOWED       LOAD DATA INPATH 'hdfs://h/x' OVERWRITE INTO TABLE t
    FORMAT_NOT_ALLOWED     SELECT * FROM binaryFile.`/etc/passwd`
    FORMAT_NOT_ALLOWED     SELECT * FROM jdbc.`jdbc:h2:mem:x`
    FORMAT_NOT_ALLOWED     SELECT * FROM `org.apache.spark.sql.execution.datasources.text.TextFileFormat`.`/etc/passwd`
    FORMAT_NOT_ALLOWED     CREATE TEMPORARY VIEW v USING jdbc OPTIONS (url 'jdbc:h2:mem:x', dbtable 't')
    FORMAT_NOT_ALLOWED     CREATE TEMPORARY VIEW v USING org.apache.spark.sql.jdbc OPTIONS (url 'x')
    FORMAT_NOT_ALLOWED     CREATE TEMPORARY VIEW v USING kafka OPTIONS (subscribe 'x')
    FORMAT_NOT_ALLOWED     CREATE TEMPORARY VIEW v USING binaryFile OPTIONS (path '/etc')
    FORMAT_NOT_ALLOWED     CREATE TABLE u (a INT) USING jdbc OPTIONS (url 'x')
    FORMAT_NOT_ALLOWED     CREATE TABLE u (a INT) USING a.b.C
    FORMAT_NOT_ALLOWED     CREATE TABLE u USING noop AS SELECT 1
    FORMAT_NOT_ALLOWED     CREATE TABLE u (a INT) ROW FORMAT SERDE 'a.B' STORED AS INPUTFORMAT 'a.C' OUTPUTFORMAT 'a.D'
    FORMAT_NOT_ALLOWED     CREATE TABLE u LIKE t USING jdbc
    FORMAT_NOT_ALLOWED     INSERT OVERWRITE DIRECTORY '/tmp/out' USING jdbc SELECT 1
    STATEMENT_NOT_ALLOWED  ALTER TABLE t SET SERDE 'a.B'
    STATEMENT_NOT_ALLOWED  SELECT * FROM t TIMESTAMP AS OF (SELECT max(b) FROM t)
    NAME_NOT_ALLOWED       SELECT * FROM IDENTIFIER(concat('text.`/etc/', b, '`'))
    CONF_NOT_ALLOWED       SET
    CONF_NOT_ALLOWED       SET -v
    CONF_NOT_ALLOWED       RESET
    CONF_NOT_ALLOWED       SET spark.hadoop.fs.s3a.secret.key
    CONF_NOT_ALLOWED       SET spark.sql.warehouse.dir
    CONF_NOT_ALLOWED       SET spark.sql.warehouse.dir = '/etc'
    CONF_NOT_ALLOWED       SET spark.sql.extensions = a.B
    CONF_NOT_ALLOWED       SET spark.sql.catalog.x = a.B
    CONF_NOT_ALLOWED       SET spark.sql.variable.substitute = true
    CONF_NOT_ALLOWED       RESET spark.sql.variable.substitute
    CONF_NOT_ALLOWED       SET spark.sql.adaptive.customCostEvaluatorClass = a.B
    CONF_NOT_ALLOWED       SET spark.sql.sources.default = jdbc
    CONF_NOT_ALLOWED       SET spark.master
    CONF_NOT_ALLOWED       SET hivevar:x = 1
    CONF_NOT_ALLOWED       SET system:user.dir
    CONF_NOT_ALLOWED       SET x.y = z
    CONF_NOT_ALLOWED       RESET spark.sql.warehouse.dir
    CONF_NOT_ALLOWED       SET SPARK.SQL.ANSI.ENABLED = true
  """)

  private val large = table("""
    TOO_MANY_PARTITIONS    SELECT * FROM range(0, 1, 1, 200000000)
    TOO_MANY_PARTITIONS    SELECT * FROM range(0, 1, 1, 50000 + 50001)
    TOO_MANY_PARTITIONS    EXPLAIN SELECT * FROM range(0, 1, 1, 200000000)
    TOO_MANY_PARTITIONS    SELECT (SELECT max(id) FROM range(0, 1, 1, 200000000))
    TOO_MANY_PARTITIONS    CREATE TEMPORARY VIEW v AS SELECT * FROM range(0, 1, 1, 200000000)
    TOO_MANY_PARTITIONS    SELECT /*+ REPARTITION(100001) */ * FROM t
    TOO_MANY_PARTITIONS    SELECT /*+ REPARTITION(2000000000, a) */ * FROM t
    TOO_MANY_PARTITIONS    SELECT /*+ REPARTITION_BY_RANGE(2000000000, a) */ * FROM t
    TOO_MANY_PARTITIONS    SELECT /*+ REBALANCE(2000000000, a) */ * FROM t
    TOO_MANY_PARTITIONS    SELECT /*+ COALESCE(2000000000) */ * FROM t
    TOO_MANY_PARTITIONS    SET spark.sql.shuffle.partitions = 2000000000
    TOO_MANY_PARTITIONS    SET spark.sql.shuffle.partitions = 20000000000
    TOO_MANY_PARTITIONS    SET spark.sql.adaptive.coalescePartitions.initialPartitionNum = 100001
    TOO_MANY_PARTITIONS    SET spark.sql.files.minPartitionNum = 100001
    TOO_MANY_PARTITIONS    SET spark.sql.files.maxPartitionNum = 100001
    TOO_MANY_PARTITIONS    SET spark.sql.leafNodeDefaultParallelism = 100001
    TOO_MANY_PARTITIONS    SET spark.sql.files.maxPartitionBytes = 1
    TOO_MANY_PARTITIONS    SET spark.sql.files.maxPartitionBytes = 1023k
    admitted               SET spark.sql.files.maxPartitionBytes = 1m
    admitted               SET spark.sql.shuffle.partitions = 100000
    admitted               SET spark.sql.shuffle.partitions
    admitted               SELECT * FROM range(0, 1, 1, 100000)
    admitted               SELECT /*+ REPARTITION(100000) */ * FROM t
    admitted               SELECT * FROM range(200000000)
  """)

  test("a statement does not ask for more partitions than the driver bears, whatever it may set") {
    assertOutcomes(large, admin.copy(confKeys = Seq("spark.sql.*")))
  }

  test("what a table says of its order is looked at where a query makes use of it") {
    val order = "reflect('java.util.UUID', 'fromString', b)"
    run("CREATE TABLE says (a INT, b STRING) USING parquet")
    run(s"ALTER TABLE says SET TBLPROPERTIES ('plait.ordered-by' = \"$order\")")
    val joined = "SELECT * FROM says JOIN t ON says.b = t.b AND says.a < t.a"
    assertOutcomes(Seq(joined -> "FUNCTION_NOT_ALLOWED"), reader)
  }

  test(
    "what a table says of itself is looked at where it is said, for a view hides where it is used"
  ) {
    run("CREATE TABLE claims (a INT, b STRING, ts TIMESTAMP) USING parquet")
    def said(property: String, sql: String) =
      s"ALTER TABLE claims SET TBLPROPERTIES ('plait.$property' = \"$sql\")"
    val code = "reflect('java.util.UUID', 'fromString', b)"
    val file = "xpath_string(b, 'a') = 'x'"
    assertOutcomes(
      Seq(
        said("ordered-by", code),
        said("ordered-by", s"$code DESC"),
        said("version-time", code),
        said("version-order", s"a DESC, $code"),
        said("version-key", s"b, $code"),
        said("version-deleted", file),
        said("VERSION-deleted", file),
        "CREATE TABLE more (a INT) USING parquet TBLPROPERTIES ('plait.version-deleted' = \"reflect('a.B', 'c')\")",
        "CREATE TABLE more LIKE claims TBLPROPERTIES ('plait.version-deleted' = \"reflect('a.B', 'c')\")"
      ).map(_ -> "FUNCTION_NOT_ALLOWED") ++ Seq(
        said("ordered-by", "a DESC"),
        said("version-key", "b, a"),
        said("version-deleted", "b = '-D'"),
        said("watermark", "ts - INTERVAL 20 SECONDS"),
        said("ordered-by", "no order at all (")
      ).map(_ -> "admitted"),
      admin
    )
  }

  test("a text in a hint is looked at as the expression is that it stands for, in a function too") {
    run("CREATE TABLE hinted (a INT, b STRING) USING parquet")
    assertOutcomes(
      table("""
      FUNCTION_NOT_ALLOWED  SELECT /*+ ORDERED(hinted, "reflect('a.B', b) DESC") */ hinted.a FROM hinted JOIN t ON hinted.a < t.a
      FUNCTION_NOT_ALLOWED  CREATE FUNCTION f() RETURNS TABLE (x INT) RETURN SELECT /*+ ORDERED(hinted, "reflect('a.B', b)") */ a FROM hinted
      FUNCTION_NOT_ALLOWED  CREATE FUNCTION f() RETURNS TABLE (x INT) RETURN SELECT /*+ VERSION_DELETED(hinted, "xpath_string(b, 'a') = 'x'") */ a FROM hinted
      FUNCTION_NOT_ALLOWED  CREATE FUNCTION f() RETURNS INT RETURN (SELECT /*+ VERSION_KEY(hinted, b, "reflect('a.B', b)") */ max(a) FROM hinted)
      FUNCTION_NOT_ALLOWED  CREATE VIEW v AS SELECT /*+ VERSIONED(hinted, a, "reflect('a.B', b) DESC") */ * FROM hinted
      admitted              SELECT /*+ ORDERED(hinted, 'a DESC', 5) */ hinted.a FROM hinted JOIN t ON hinted.a < t.a
      admitted              CREATE FUNCTION f() RETURNS TABLE (x INT) RETURN SELECT /*+ ORDERED(hinted, 'a + 1') */ a FROM hinted
      """),
      admin
    )
  }

  test(
    "a text within what a table says is looked at whatever a double quote means to who says it"
  ) {
    val within = "ALTER TABLE t SET TBLPROPERTIES ('plait.version-key' = '\"reflect(1)\"')"
    val reserved = "ALTER TABLE t SET TBLPROPERTIES ('plait.version-key' = 'reflect(1, table)')"
    def assertRefused() =
      assertOutcomes(Seq(within, reserved).map(_ -> "FUNCTION_NOT_ALLOWED"), admin)
    val settings = Seq("doubleQuotedIdentifiers", "enforceReservedKeywords")
    assertRefused()
    settings.foreach(name => client.conf.set(s"spark.sql.ansi.$name", "true"))
    try assertRefused()
    finally settings.foreach(name => client.conf.unset(s"spark.sql.ansi.$name"))
  }

  test("views and functions keep no name that would be one of files when its table has gone") {
    run("CREATE DATABASE text")
    run("CREATE TABLE text.passwords (value STRING) USING parquet")
    try
      assertOutcomes(
        table("""
        NAME_NOT_ALLOWED  CREATE VIEW v AS SELECT * FROM text.passwords
        NAME_NOT_ALLOWED  CREATE VIEW v AS SELECT (SELECT max(value) FROM TEXT.passwords)
        NAME_NOT_ALLOWED  CREATE VIEW v AS SELECT * FROM IDENTIFIER('text.passwords')
        NAME_NOT_ALLOWED  CREATE VIEW v AS SELECT * FROM t WHERE b IN (SELECT value FROM IDENTIFIER('text.passwords'))
        NAME_NOT_ALLOWED  CREATE VIEW v AS WITH x AS (SELECT * FROM text.passwords) SELECT * FROM x
        NAME_NOT_ALLOWED  CREATE VIEW v AS SELECT * FROM TUMBLE(TABLE text.passwords, DESCRIPTOR(value), INTERVAL 1 MINUTE)
        NAME_NOT_ALLOWED  CREATE TEMPORARY VIEW v AS SELECT * FROM text.passwords
        NAME_NOT_ALLOWED  CREATE GLOBAL TEMPORARY VIEW v AS SELECT * FROM text.passwords
        NAME_NOT_ALLOWED  ALTER VIEW v AS SELECT * FROM text.passwords
        NAME_NOT_ALLOWED  CACHE TABLE c AS SELECT * FROM text.passwords
        NAME_NOT_ALLOWED  CREATE FUNCTION f() RETURNS TABLE (x STRING) RETURN SELECT * FROM text.passwords
        NAME_NOT_ALLOWED  CREATE FUNCTION f() RETURNS STRING RETURN (SELECT max(value) FROM text.passwords)
        NAME_NOT_ALLOWED  CREATE TEMPORARY FUNCTION f() RETURNS STRING RETURN (SELECT max(value) FROM text.passwords)
        admitted          CREATE VIEW v AS SELECT * FROM spark_catalog.text.passwords
        admitted          CREATE TABLE u USING parquet AS SELECT * FROM text.passwords
        admitted          SELECT * FROM text.passwords
        PATH_NOT_ALLOWED  CREATE VIEW v AS SELECT * FROM text.others
        """),
        admin
      )
    finally run("DROP DATABASE text CASCADE")
  }

  /** The analysed plan of a relation whose options have sent it elsewhere. */
  private def sent(statement: String): LogicalPlan =
    StatementReading.analysed(client, client.sessionState.sqlParser.parsePlan(statement))

  test(
    "a table of the catalog that an option has sent elsewhere is refused by where it reads or writes"
  ) {
    val options = "WITH ('pATH' = '/etc', header = 'false', sep = '|', quote = '\"', escape = '!')"
    for (
      statement <- Seq(
        s"SELECT * FROM plain $options",
        s"SELECT * FROM STREAM plain $options",
        s"INSERT OVERWRITE plain $options SELECT 'x'"
      )
    ) {
      val refused =
        intercept[StatementRefused](StatementGuard.check(client, sent(statement), admin))
      assertEquals(refused.code, StatementRefused.Path, statement)
    }
    run("REFRESH TABLE plain") // the session keeps what the last of them has found
  }

  test(
    "a table of the catalog is read and written where the catalog says, as a pattern and by its partitions too"
  ) {
    val folder = java.nio.file.Files.createTempDirectory("located")
    Seq("a", "b").foreach(f => java.nio.file.Files.createDirectory(folder.resolve(f)))
    run(s"CREATE TABLE located (a STRING) USING csv LOCATION '$folder/{a,b}'")
    run("CREATE TABLE parted (a STRING, p INT) USING csv PARTITIONED BY (p)")
    run(s"ALTER TABLE parted ADD PARTITION (p = 1) LOCATION '$folder/a'")
    assertOutcomes(
      Seq(
        "SELECT * FROM located",
        "SELECT * FROM parted WHERE p = 1",
        "INSERT INTO parted PARTITION (p = 1) SELECT 'x'",
        "SELECT * FROM STREAM plain",
        "INSERT OVERWRITE plain WITH (header = 'true') SELECT 'x'"
      ).map(_ -> "admitted"),
      admin
    )
  }

  test("a statement that reaches for files, code or settings is refused in every scope") {
    assertOutcomes(never, admin)
  }
}
