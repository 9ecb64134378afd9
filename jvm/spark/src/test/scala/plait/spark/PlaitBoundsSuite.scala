// SPDX-License-Identifier: Apache-2.0
// Examples: which names a condition has, and which it may not have.
package plait.spark

import org.apache.spark.sql.classic.SparkSession

import plait.spark.result.Json

class PlaitBoundsSuite extends SparkSuite {

  /** The variables, or what is wrong; real numbers where there is no type. */
  private def asked(condition: String, dataType: Option[String], named: String*): Seq[String] = {
    val root = Json.mapper.createObjectNode()
    root.put("condition", condition).put("real", dataType.isEmpty).put("trace", false)
    val variables = root.putArray("variables")
    named.foreach { name =>
      val one = variables.addObject().put("name", name).putNull("possible")
      dataType.fold(one.putNull("type"))(one.put("type", _))
    }
    val found = Json.mapper.readTree(
      PlaitBounds.bounds(spark.asInstanceOf[SparkSession], root.toString)
    )
    if (found.has("error")) Seq(found.get("error").asText)
    else found.get("variables").findValuesAsText("name").toArray.toSeq.map(_.toString)
  }

  test("a name in the body of a lambda is one of the condition's, but for the lambda's own") {
    val exists = "exists(array(1, 2, 3), z -> z = a)"
    assertEquals(asked(exists, None), Seq("a"))
    assertEquals(asked(exists, Some("int"), "a"), Seq("a"))
    assertEquals(asked("exists(array(b), a -> exists(array(a), c -> c = a))", None), Seq("b"))
    assertEquals(asked("exists(array(1), z -> z = a) AND z > 1", None), Seq("a", "z"))
    assertEquals(
      asked(exists, Some("int"), "z"),
      Seq("The condition does not name z: it names a.")
    )
  }

  test("a condition has no subqueries, with types or without") {
    val refusal = Seq("A condition has no subqueries, as at position 5.")
    assertEquals(asked("a > (SELECT 1)", None), refusal)
    assertEquals(asked("a > (SELECT 1)", Some("int"), "a"), refusal)
  }
}
