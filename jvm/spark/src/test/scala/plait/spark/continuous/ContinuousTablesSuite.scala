// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.nio.file.{Files, Path}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.classic.{DataFrame, SparkSession}

import plait.spark.result.{Json, OperationFailed, OperationRequest}
import plait.spark.{RemoteStatement, SparkSuite}

/** Examples: what statements of a client do to a continuous table, and what of them is refused. */
class ContinuousTablesSuite extends SparkSuite {
  private lazy val client = spark.asInstanceOf[SparkSession].newSession()
  private lazy val state = Files.createTempDirectory("state").toRealPath()

  override def beforeAll(): Unit = {
    Streams.open()
    client.sql("DROP TABLE IF EXISTS sources")
    client.sql("CREATE TABLE sources (id INT, k INT) USING parquet")
    client.sql("INSERT INTO sources VALUES (1, 1)")
    val query = "SELECT id, k FROM STREAM sources"
    answered(s"CREATE STREAMING TABLE filled_by AS $query", "stream")
    answered(s"CREATE STREAMING TABLE parted PARTITIONED BY (k) AS $query", "stream"): Unit
  }

  override def afterAll(): Unit = {
    Seq("filled_by", "parted").foreach(table => answered(s"DROP TABLE $table", "stream"))
    Streams.close()
    ContinuousTables.close()
    client.sql("DROP TABLE sources"): Unit
  }

  private def request(sql: String, scopes: Seq[String]): OperationRequest = {
    val root = Json.mapper.createObjectNode()
    root.put("sql", sql).putObject("named")
    Seq("positional", "confKeys", "folders").foreach(root.putArray(_))
    scopes.foldLeft(root.putArray("scopes"))(_.add(_))
    root.put("owner", "me").put("state", state.toString).put("streams", 16).put("records", 10)
    root.put("stack", false).put("batchBytes", 1 << 20)
    new OperationRequest(root)
  }

  private def answered(sql: String, scopes: String*): DataFrame =
    client.withActive(RemoteStatement.answered(client, request(sql, scopes)))

  private def refused(sql: String, scopes: String*): OperationFailed =
    intercept[OperationFailed](answered(sql, scopes: _*))

  private def folders: Seq[Path] =
    state.resolve("tables").toFile.listFiles.toSeq.map(_.toPath)

  test("a table that is refused leaves no folder") {
    val before = folders
    for (
      wrong <- Seq(
        "twice AS SELECT id, id FROM STREAM sources",
        "nowhere.n AS SELECT id FROM STREAM sources",
        "wrong PARTITIONED BY (missing) AS SELECT id FROM STREAM sources"
      )
    ) intercept[AnalysisException](answered(s"CREATE STREAMING TABLE $wrong", "stream")): Unit
    assertEquals(folders, before)
  }

  test("EXPLAIN of a table to be made is refused in our words, and its making to who may not") {
    val explain = "EXPLAIN CREATE STREAMING TABLE n AS SELECT id FROM STREAM sources"
    val why = refused(explain, "stream")
    assertEquals(why.code, "NOT_CONTINUOUS")
    assert(why.sentence.startsWith("To explain a continuous table is not supported yet"))
    assertEquals(refused(explain, "read").code, "SCOPE_NOT_GRANTED")
    val asked = request(explain, Seq("stream"))
    val told = intercept[OperationFailed](RemoteStatement.explained(client, asked))
    assertEquals(told.code, "NOT_CONTINUOUS")
  }

  test("a query over a stream is no statement to run, and a view of one is") {
    answered("CREATE TEMPORARY VIEW followed_by AS SELECT id FROM STREAM sources", "stream")
    for (
      statement <- Seq(
        "SELECT * FROM STREAM sources",
        "SELECT count(*) FROM followed_by",
        "INSERT INTO sources SELECT id, id FROM followed_by",
        "CREATE TABLE n USING parquet AS SELECT id FROM followed_by"
      )
    ) {
      val why = refused(statement, "stream", "admin")
      assertEquals(why.code, "STREAM_QUERY", statement)
      for (way <- Seq("StartStream", "start_stream", "streams start", "CREATE STREAMING TABLE"))
        assert(why.sentence.contains(way), why.sentence)
    }
  }

  test("nobody else writes to the table") {
    for (
      statement <- Seq(
        "INSERT INTO filled_by VALUES (1, 2)",
        "INSERT INTO filled_by BY NAME SELECT 1 AS id, 2 AS k",
        "INSERT INTO filled_by REPLACE WHERE id = 1 SELECT 1, 2",
        "INSERT INTO filled_by AS f REPLACE ON f.id = s.id (SELECT 1 AS id, 2 AS k) AS s",
        "DELETE FROM filled_by",
        "DELETE FROM default.filled_by AS f WHERE f.id = 1",
        "UPDATE filled_by AS f SET k = 1",
        "MERGE INTO filled_by f USING sources s ON f.id = s.id WHEN MATCHED THEN DELETE",
        "TRUNCATE TABLE filled_by",
        "ALTER TABLE filled_by SET TBLPROPERTIES ('a' = 'b')"
      )
    ) assertEquals(refused(statement, "admin").code, "CONTINUOUS_TABLE", statement)
  }

  test("where the server keeps the rows is told to an admin alone") {
    val place = state.getFileName.toString
    def told(statement: String, scopes: String*): String =
      answered(statement, scopes: _*).collect().mkString
    for (
      statement <- Seq(
        "SHOW CREATE TABLE filled_by",
        "DESCRIBE EXTENDED filled_by",
        "DESCRIBE TABLE EXTENDED spark_catalog.default.filled_by AS JSON",
        "DESCRIBE FORMATTED IDENTIFIER('filled_by')",
        "DESCRIBE EXTENDED parted PARTITION (k = 1)",
        "SHOW TABLE EXTENDED LIKE 'fill*'",
        "SHOW TABLE EXTENDED IN spark_catalog.default LIKE '*'",
        "SHOW TABLE EXTENDED LIKE 'parted' PARTITION (k = 1)"
      )
    ) {
      val why = refused(statement, "read", "stream")
      assertEquals(why.code, "SCOPE_NOT_GRANTED", statement)
      assert(why.sentence.contains("needs the scope admin"), why.sentence)
      // The catalog has no partitions of a table that a stream fills.
      if (!statement.contains("PARTITION ("))
        assert(told(statement, "admin").contains(place), statement)
    }
    for (
      statement <- Seq(
        "DESCRIBE filled_by",
        "DESCRIBE EXTENDED filled_by id",
        "SHOW TABLES LIKE 'fill*'",
        "SHOW PARTITIONS parted",
        "SHOW TBLPROPERTIES filled_by",
        "SHOW TABLE EXTENDED LIKE 'sources'",
        "SHOW CREATE TABLE sources"
      )
    ) assert(!told(statement, "read").contains(place), statement)
    answered("CREATE TEMPORARY VIEW filled_by AS SELECT 1 AS a", "read")
    try assert(told("DESCRIBE EXTENDED filled_by", "read").contains("a"))
    finally answered("DROP VIEW filled_by", "read"): Unit
  }
}
