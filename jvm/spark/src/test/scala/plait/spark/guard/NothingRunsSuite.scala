// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.nio.file.{Files, Path}

import com.fasterxml.jackson.databind.ObjectMapper

import plait.spark.PlaitRemote

/** Examples: a statement that is looked at does nothing, whether it is admitted or refused. */
class NothingRunsSuite extends GuardSuite {
  private lazy val folder: Path = Files.createTempDirectory("guard-marks").toRealPath()
  private val mapper = new ObjectMapper()
  private val property = "plait.guard.mark"

  override def beforeAll(): Unit = {
    run("CREATE DATABASE IF NOT EXISTS marks")
    run("USE marks")
    run("CREATE TABLE kept (a INT, b STRING) USING parquet")
    run("INSERT INTO kept VALUES (1, 'x')")
    run("DECLARE VARIABLE kept_value INT DEFAULT 1")
  }

  override def afterAll(): Unit = run("DROP DATABASE marks CASCADE")

  /** Leaves a mark in the JVM where it is evaluated. */
  private val mark = s"java_method('java.lang.System', 'setProperty', '$property', 'x')"

  private def marking: Seq[String] = Seq(
    s"SELECT $mark",
    s"SELECT * FROM range(length($mark))",
    s"SELECT * FROM kept LIMIT length($mark)",
    s"SELECT IDENTIFIER($mark)",
    s"SELECT * FROM IDENTIFIER($mark)",
    s"SELECT * FROM kept TIMESTAMP AS OF $mark",
    s"VALUES ($mark)",
    s"SELECT from_json('{}', $mark)",
    s"EXPLAIN SELECT $mark",
    s"DESCRIBE QUERY SELECT $mark",
    s"EXECUTE IMMEDIATE 'SELECT $mark'".replace(s"'SELECT $mark'", s"\"SELECT $mark\""),
    "EXECUTE IMMEDIATE 'CREATE TABLE made (a INT) USING parquet'",
    "EXECUTE IMMEDIATE 'SET VAR kept_value = 2'",
    "BEGIN CREATE TABLE made (a INT) USING parquet; END",
    s"SELECT TRANSFORM (a) USING 'touch $folder/mark' AS (x STRING) FROM kept",
    s"ADD FILE '$folder/file'",
    s"ADD JAR '$folder/file.jar'",
    s"SET spark.sql.warehouse.dir = '$folder'",
    "SET spark.sql.adaptive.customCostEvaluatorClass = a.B",
    s"INSERT OVERWRITE DIRECTORY '$folder/out' USING csv SELECT 1",
    "CREATE TABLE made (a INT) USING parquet",
    "CREATE TABLE made USING parquet AS SELECT 1 AS a",
    "CREATE TEMPORARY VIEW made AS SELECT 1",
    "CREATE TEMPORARY FUNCTION made() RETURNS INT RETURN 1",
    "CREATE DATABASE made",
    "DROP TABLE kept",
    "TRUNCATE TABLE kept",
    "INSERT INTO kept VALUES (2, 'y')",
    "CACHE TABLE kept",
    "SET spark.sql.shuffle.partitions = 77",
    "SET VAR kept_value = 2",
    "USE default"
  )

  test("no statement leaves a trace, in any scope") {
    Files.writeString(folder.resolve("file"), "x")
    for (scopes <- Seq(Nil, Seq(Scope.Read), Scope.All)) {
      val all = Grant(scopes.toSet, Seq(folder.toString), Grant.HarmlessConfKeys)
      marking.foreach(outcome(_, all))
      assertEquals(traces, Nil)
    }
  }

  test("nor does one that is validated or explained for a client") {
    Files.writeString(folder.resolve("file"), "x")
    for (scopes <- Seq(Seq("read"), Seq("read", "stream", "admin")); sql <- marking) {
      val request = mapper.createObjectNode().put("sql", sql)
      request.put("stack", false).put("batchBytes", 1024L)
      request.putObject("named")
      Seq("positional", "confKeys").foreach(request.putArray(_))
      request.putArray("folders").add(folder.toString)
      scopes.foldLeft(request.putArray("scopes"))(_.add(_))
      PlaitRemote.validate(client, request.toString)
      PlaitRemote.explain(client, request.toString)
      assertEquals(traces, Nil, sql)
    }
  }

  /** What has come of the statements, in words. */
  private def traces: Seq[String] = {
    val context = client.sparkContext
    val tables = client.sessionState.catalog.listTables("marks").map(_.table)
    Seq(
      "a property" -> System.getProperties.containsKey(property),
      "a file" -> (folder.toFile.list().toSet != Set("file")),
      "a jar" -> context.listJars().exists(_.contains(folder.toString)),
      "an added file" -> context.listFiles().exists(_.contains(folder.toString)),
      "tables" -> (tables != Seq("kept")),
      "rows" -> (client.table("kept").count() != 1),
      "a database" -> client.catalog.databaseExists("made"),
      "a function" -> client.catalog.functionExists("made"),
      "the cache" -> client.catalog.isCached("kept"),
      "the place" -> (client.catalog.currentDatabase != "marks"),
      "a variable" -> (client.sql("SELECT kept_value").head().getInt(0) != 1),
      "a setting" -> (client.conf.get("spark.sql.shuffle.partitions") == "77")
    ).collect { case (what, true) => what }
  }

  test("the plan that comes out is the one that runs") {
    import org.apache.spark.sql.plait.PlanRun
    val rows = PlanRun(client, admit("SELECT a + 1, b FROM kept", reader)).collect().toSeq
    assertEquals(rows.map(_.toSeq), Seq(Seq[Any](2, "x")))
    PlanRun(client, admit("CREATE TEMPORARY VIEW ran AS SELECT a FROM kept", reader))
    assertEquals(PlanRun(client, admit("SELECT * FROM ran", reader)).count(), 1L)
    PlanRun(client, admit("DROP VIEW ran", reader)): Unit
  }
}
