// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.classic.SparkSession

import plait.spark.guard.{Grant, Scope, StatementGuard}
import plait.spark.{Admission, SparkSuite}

/** Examples: what is told of an error. */
class FailureSuite extends SparkSuite {
  private lazy val client = spark.asInstanceOf[SparkSession].newSession()

  override def beforeAll(): Unit = {
    client.sql("CREATE TEMPORARY VIEW divides AS SELECT 1/(id-1) AS x FROM range(3)")
    client.sql("CREATE TEMPORARY VIEW casts AS SELECT CAST('x' AS INT) AS x FROM range(3)")
    client.sql("CREATE TEMPORARY FUNCTION divided(x INT) RETURNS DOUBLE RETURN 1/x")
    client.sql(
      "CREATE TEMPORARY VIEW refused AS SELECT reflect('java.util.UUID', 'randomUUID') AS id"
    ): Unit
  }

  private def told(error: Throwable, stack: StackTrace, statement: String): JsonNode =
    Json.mapper.readTree(Failure.json(error, stack, statement))

  /** What is marked in a statement that fails when it runs. */
  private def marked(statement: String, named: (String, Any)*): Option[String] = {
    val error = intercept[Throwable](client.sql(statement, named.toMap).collect())
    val place = told(error, StackTrace.Kept, statement).path("position")
    Option.when(place.has("start")) {
      val text = statement.slice(place.get("start").asInt, place.get("stop").asInt + 1)
      assertEquals(place.get("fragment").asText, text)
      text
    }
  }

  test("an error has its place in the statement") {
    assertEquals(marked("SELECT 1, 1/0"), Some("1/0"))
    assertEquals(marked("SELECT missing"), Some("missing"))
    assertEquals(marked("SELECT :a, 1/0, '🙂'", "a" -> "a long value"), Some("1/0"))
  }

  test("and none where it is in the text of a view or a function") {
    assertEquals(marked("SELECT * FROM casts"), None)
    assertEquals(marked("SELECT divided(0)"), None)
    // Spark lays this one on the view's name.
    assertEquals(marked("SELECT * FROM divides"), Some("divides"))
  }

  test("nor has what is refused in the text of a view") {
    def position(statement: String, named: (String, Any)*): JsonNode = {
      val grant = Grant(Set(Scope.Read), Nil, Nil)
      val error = intercept[OperationFailed](
        Admission.judged(StatementGuard.admit(client, statement, named.toMap, Nil, grant))
      )
      assertEquals(error.code, "FUNCTION_NOT_ALLOWED")
      told(error, StackTrace.Kept, statement).path("position")
    }
    assert(position("SELECT * FROM refused").isMissingNode)
    assertEquals(position("SELECT 1, reflect('a.B', 'c')").get("column").asInt, 11)
    val late = position("SELECT :a, reflect('a.B', 'c')", "a" -> "a long value")
    assertEquals(late.get("fragment").asText, "reflect('a.B', 'c')")
    assertEquals(late.get("start").asInt, 11)
  }

  private object Failing extends RuntimeException("[X] a") with SparkThrowable {
    private val stack = "a\n\tat b.C(D.scala:1)\n\tat e.F(G.scala:2)\n\nDriver stacktrace:"
    override def getCondition: String = "X"
    override def getMessageParameters: java.util.Map[String, String] =
      Map("message" -> stack, "lines" -> "b\nc\n", "none" -> null).asJava
  }

  test("a parameter ends before the stack in it, unless stacks are sent, and may be null") {
    def parameters(stack: StackTrace): JsonNode = told(Failing, stack, "").get("parameters")
    val cut = parameters(StackTrace.Kept)
    assertEquals(cut.get("message").asText, "a")
    assertEquals(cut.get("lines").asText, "b\nc\n")
    assert(cut.get("none").isNull)
    assert(parameters(StackTrace.Sent).get("message").asText.contains("\tat b.C"))
  }
}
