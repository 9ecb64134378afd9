// SPDX-License-Identifier: Apache-2.0
// Examples: what a Scala program is told of its joins.
package plait.spark

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import plait.Side

class ExplanationSuite extends SparkSuite {
  private val rows = "SELECT id, id % 3 AS k FROM range(20)"

  private def explained(condition: String): Explanation =
    Plait.explain(spark.sql(s"SELECT * FROM ($rows) l JOIN ($rows) r ON l.k = r.k $condition"))

  test("each side has what prunes it or a reason, and the text says the same") {
    val found = explained("AND l.id < r.id")
    val Seq(left, right) = found.sides: @unchecked
    assertEquals((left.side, left.node), (Side.Left, "SymmetricHashJoin"))
    assertEquals(left.whyNot.map(_.code), Some("ENDLESS_REACH"))
    assertEquals(left.prunedBy, None)
    assertEquals(right.whyNot, None)
    val lines = found.toString.linesIterator.toSeq
    assertEquals(lines.head, left.join)
    assert(lines(1).endsWith(s"not pruned: ${left.whyNot.get}"), lines(1))
    assert(lines(2).endsWith(s"pruned by ${right.prunedBy.get}"), lines(2))
  }

  test("a join that is Spark's has its reason on both sides") {
    val found = explained("")
    assertEquals(codesOf(found), Seq.fill(2)(Some("NO_COMPARISON")))
    assert(found.toString.contains("left to Spark: the condition has no comparison"))
    // The = that there is, the rows are dealt by.
    assert(found.toString.contains("or an = beside those that the sides are hashed by"))
  }

  private def codesOf(found: Explanation) = found.sides.map(_.whyNot.map(_.code))

  test("a join of a type that only Spark has says which") {
    val one = s"SELECT l.id, (SELECT r.id FROM ($rows) r WHERE r.id = l.id) AS r FROM ($rows) l"
    val found = Plait.explain(spark.sql(one))
    assertEquals(codesOf(found), Seq.fill(2)(Some("JOIN_TYPE_NOT_SUPPORTED")))
    assert(clue(found.toString).toLowerCase.contains("single"))
  }

  test("a join that something else has planned before says that Plait was not asked") {
    val classic = spark.asInstanceOf[SparkSession]
    val ofSpark = classic.sessionState.planner.JoinSelection
    classic.experimental.extraStrategies = Seq(new SparkStrategy {
      override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
        case join: Join => ofSpark(join)
        case _ => Nil
      }
    })
    try assertEquals(codesOf(explained("AND l.id < r.id")), Seq.fill(2)(Some("NOT_ASKED")))
    finally classic.experimental.extraStrategies = Nil
    assertEquals(codesOf(explained("AND l.id < r.id")), Seq(Some("ENDLESS_REACH"), None))
  }

  test("the rows as JSON leave out what they do not have") {
    val json = explained("AND l.id < r.id").json
    assertEquals(json.split("\"code\"").size - 1, 1, json)
    assertEquals(json.split("\"prunedBy\"").size - 1, 1, json)
    assert(json.contains("\"arguments\":[\"left\","), json)
  }
}
