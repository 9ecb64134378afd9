// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.plait.PlanRun

/** Examples: parameters, settings, positions and sentences of refusals, and the statements of the parser's
  * tests.
  */
class AdmissionSuite extends GuardSuite {

  private def value(sql: String, named: Map[String, Any], positional: Seq[Any]): Seq[Any] =
    PlanRun(client, StatementGuard.admit(client, sql, named, positional, reader)).head().toSeq

  test("parameters go in by name or by position, in their order, as session.sql puts them in") {
    assertEquals(value("SELECT :a + 1, :b", Map("a" -> 1, "b" -> "x"), Nil), Seq[Any](2, "x"))
    val nine = (1 to 9).toSeq
    assertEquals(value(s"SELECT ${nine.map(_ => "?").mkString(", ")}", Map.empty, nine), nine)
    assertEquals(value("SELECT IDENTIFIER(:f)(-1)", Map("f" -> "abs"), Nil), Seq[Any](1))
    val joined = "SELECT count(*) FROM (SELECT 1 AS k, 2 AS t) l " +
      "ASOF JOIN (SELECT 1 AS k, 1 AS t) r MATCH_CONDITION (l.t >= r.t TOLERANCE :d) ON l.k = r.k"
    assertEquals(value(joined, Map("d" -> 5), Nil), Seq[Any](1L))
  }

  test("parameters both by name and by position are a fault") {
    val fault = intercept[IllegalArgumentException](value("SELECT :a, ?", Map("a" -> 1), Seq(1)))
    assert(fault.getMessage.contains("not both"))
  }

  test("a parameter that holds a name is looked at as the name is") {
    def code(sql: String, parameter: String): String =
      intercept[StatementRefused](value(sql, Map("p" -> parameter), Nil)).code
    assertEquals(code("SELECT * FROM IDENTIFIER(:p)", "text.`/etc/passwd`"), "PATH_NOT_ALLOWED")
    assertEquals(code("SELECT IDENTIFIER(:p)('a.B', 'c')", "reflect"), "FUNCTION_NOT_ALLOWED")
    assertEquals(
      code("SELECT schema_of_xml('<a/>', map(:p, 'x'))", "rowValidationXSDPath"),
      "OPTION_NOT_ALLOWED"
    )
  }

  test("a variable in a text is a text, in the statement, in a view and in a function") {
    val home = "$" + "{env:HOME}"
    assertEquals(value(s"SELECT '$home'", Map.empty, Nil), Seq[Any](home))
    for (
      statement <- Seq(
        s"CREATE TEMPORARY VIEW texts AS SELECT '$home' AS x",
        s"CREATE TEMPORARY FUNCTION texted() RETURNS STRING RETURN '$home'"
      )
    ) PlanRun(client, admit(statement, reader)): Unit
    assertEquals(value("SELECT x, texted() FROM texts", Map.empty, Nil), Seq[Any](home, home))
  }

  test("a prefix opens the keys that begin so, but none that names a class, a folder or a source") {
    val wide = Grant(Set(Scope.Read), Nil, Seq("spark.sql.*", "spark.plait.*", "spark.hadoop.*"))
    val expected = Seq(
      "SET spark.sql.shuffle.partitions = 4" -> "admitted",
      "SET spark.sql.session.timeZone" -> "admitted",
      "SET spark.plait.join.strategy = always" -> "admitted",
      "SET spark.sql.adaptive.customCostEvaluatorClass = a.B" -> "CONF_NOT_ALLOWED",
      "SET spark.sql.sources.default = jdbc" -> "CONF_NOT_ALLOWED",
      "SET spark.sql.catalog.x = a.B" -> "CONF_NOT_ALLOWED",
      "SET spark.sql.streaming.checkpointLocation = '/etc'" -> "CONF_NOT_ALLOWED",
      "SET spark.sql.variable.substitute = true" -> "CONF_NOT_ALLOWED",
      "SET spark.sql.warehouse.dir = '/etc'" -> "CONF_NOT_ALLOWED",
      "SET spark.sql.extensions" -> "CONF_NOT_ALLOWED",
      "SET spark.hadoop.fs.defaultFS" -> "CONF_NOT_ALLOWED",
      "SET" -> "CONF_NOT_ALLOWED"
    )
    assertOutcomes(expected, wide)
    val static = Grant(Set(Scope.Read), Nil, Seq("spark.sql.warehouse.dir", "spark.master"))
    assertOutcomes(
      Seq("SET spark.sql.warehouse.dir", "SET spark.master").map(_ -> "CONF_NOT_ALLOWED"),
      static
    )
  }

  test("a refusal says where, what and what to do") {
    val refused = intercept[StatementRefused](admit("SELECT 1,\n  reflect('a.B', 'c')", reader))
    assertEquals((refused.line, refused.column), (Option(2), Option(2)))
    assertEquals(
      refused.sentence,
      "The function reflect is not allowed: it runs code. Leave it out of the statement."
    )
    val scope = intercept[StatementRefused](admit("CLEAR CACHE", reader))
    assert(scope.sentence.startsWith("CLEAR CACHE needs the scope admin"), scope.sentence)
  }

  test("of a scope that is missing, the statement is named that needs it") {
    run("CREATE TABLE named (a INT) USING parquet")
    run("CREATE VIEW viewed AS SELECT 1 AS a")
    def needs(statement: String, grant: Grant): String =
      intercept[StatementRefused](admit(statement, grant)).sentence.takeWhile(_ != ',')
    try {
      for (query <- Seq("SELECT 1", "VALUES (1)", "WITH x AS (SELECT 1) TABLE x"))
        assertEquals(needs(query, grant()), "A query needs the scope read")
      assertEquals(needs("USE default", grant()), "USE needs the scope read")
      val stream = "SELECT a FROM STREAM named"
      assertEquals(needs(stream, reader), "A query over a stream needs the scope stream")
      for (
        (statement, words) <- Seq(
          "DROP VIEW viewed" -> "DROP VIEW",
          "DROP TABLE named" -> "DROP TABLE",
          "CREATE FUNCTION n() RETURNS INT RETURN 1" -> "CREATE FUNCTION",
          "INSERT INTO named VALUES (1)" -> "INSERT INTO",
          "CREATE TABLE n (a INT) USING parquet" -> "CREATE TABLE"
        )
      ) assertEquals(needs(statement, reader), s"$words needs the scope admin")
    } finally Seq("DROP VIEW viewed", "DROP TABLE named").foreach(run)
  }

  test("a setting that is refused is answered with where those are that are not") {
    def sentence(statement: String, grant: Grant): String =
      intercept[StatementRefused](admit(statement, grant)).sentence
    val listed = "docs/endpoint.md lists under Settings"
    for (statement <- Seq("SET x.y = 1", "SET", "RESET"))
      assert(sentence(statement, reader).contains(listed), sentence(statement, reader))
    val more = reader.copy(confKeys = reader.confKeys :+ "spark.mine.*")
    assert(sentence("SET x.y = 1", more).endsWith("; and of this server spark.mine.*."))
    val few = reader.copy(confKeys = Seq("spark.a", "spark.b"))
    assert(sentence("SET x.y = 1", few).endsWith("spark.a, spark.b."))
  }

  test("docs/endpoint.md lists all settings that every client may set") {
    val here = Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent)
    val docs = Files.readString(here.map(_.resolve("docs/endpoint.md")).find(Files.exists(_)).get)
    val told = docs.split("\n## ").find(_.startsWith("Settings\n")).get
    val keys = "`(spark[^`]*)`".r.findAllMatchIn(told).map(_.group(1)).toSeq
    assertEquals(keys.sorted, Grant.HarmlessConfKeys.sorted)
  }

  test("the statements of the parser's tests pass the first look, but for these") {
    val refused = table("""
      PATH_NOT_ALLOWED       CREATE DATABASE IF NOT EXISTS d COMMENT 'x' LOCATION '/d' WITH DBPROPERTIES (a = 'b')
      PATH_NOT_ALLOWED       ALTER TABLE t ADD PARTITION (dt = '2024-01-01') LOCATION '/p'
      PATH_NOT_ALLOWED       INSERT OVERWRITE DIRECTORY '/x' USING json SELECT * FROM t
      PATH_NOT_ALLOWED       LOAD DATA LOCAL INPATH '/x' OVERWRITE INTO TABLE t
      PATH_NOT_ALLOWED       SELECT * FROM parquet.`/a/b`
      STATEMENT_NOT_ALLOWED  CREATE FUNCTION f AS 'a.B' USING JAR '/x.jar'
      STATEMENT_NOT_ALLOWED  ADD FILE '/x'
      STATEMENT_NOT_ALLOWED  LIST JARS
      STATEMENT_NOT_ALLOWED  EXECUTE IMMEDIATE 'SELECT ?' USING 1
      STATEMENT_NOT_ALLOWED  CALL p(1, a => 2)
      CONF_NOT_ALLOWED       SET x.y = z
      CONF_NOT_ALLOWED       SET
      CONF_NOT_ALLOWED       RESET x.y
      SCRIPT_NOT_ALLOWED     SELECT TRANSFORM (a, b) USING 'cat' AS (c INT) FROM t
    """).toMap
    val found = Statements.all.flatMap { statement =>
      try { StatementGuard.parse(client, statement, Map.empty, Nil, admin); None }
      catch {
        case r: StatementRefused => Some(statement -> r.code)
        case _: org.apache.spark.sql.AnalysisException => None // parameters that are not given
      }
    }.toMap
    assert(Statements.all.sizeIs >= 300, Statements.all.size)
    val (scripts, others) = found.partition(_._1.startsWith("BEGIN"))
    assertEquals(others, refused)
    assertEquals(scripts.values.toSet, Set("SCRIPT_NOT_ALLOWED"))
  }
}

/** The statements in the Python tests of the parser: two texts, and a table of joins. */
private object Statements {
  private lazy val file: String = Files.readString(Paths.get("tests/python/statements.py"))

  private def text(name: String): Seq[String] = {
    val begin = file.indexOf(name + " = \"\"\"") + name.length + 6
    file
      .substring(begin, file.indexOf("\"\"\"", begin))
      .linesIterator
      .filter(_.nonEmpty)
      .toSeq
      .map(_.replace("\\\\", "\\"))
  }

  private def joins: Seq[String] = for {
    kind <- Seq(
      "",
      "INNER",
      "LEFT",
      "LEFT OUTER",
      "RIGHT",
      "RIGHT OUTER",
      "FULL OUTER",
      "LEFT SEMI",
      "ANTI"
    )
    left <- Seq("l", "d.l AS asof", "(SELECT 1 AS k) tumble")
    right <- Seq("r", "LATERAL (SELECT 2 AS k) hop", "(r JOIN s ON r.k = s.k)")
    criteria <- Seq(
      "ON l.k = r.k AND l.t BETWEEN r.t - INTERVAL 5 MINUTES AND r.t",
      "USING (k, j)",
      ""
    )
    isLateral = right.startsWith("LATERAL")
    if !(isLateral && (criteria.startsWith("USING") || kind.contains("SEMI") || Seq("R", "F", "A")
      .exists(kind.startsWith)))
  } yield s"SELECT * FROM $left $kind JOIN $right $criteria".replace("  ", " ")

  lazy val all: Seq[String] = text("DATA") ++ text("QUERIES") ++ joins
}
