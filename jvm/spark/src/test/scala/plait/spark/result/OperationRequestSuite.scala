// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import munit.FunSuite

/** Examples: requests as Python sends them, as long as a message may be. */
class OperationRequestSuite extends FunSuite {
  private def request(named: String): OperationRequest =
    OperationRequest.parse(s"""{"sql": "SELECT :x", "positional": [], "named": $named}""")

  test("a parameter may be as long as a message") {
    val text = "x" * (21 << 20)
    val named = request(s"""{"x": {"type": "string", "value": "$text"}}""").named
    assert(named("x") == text)
  }

  test("so may its name, and a statement") {
    val name = "n" * 60000
    assertEquals(request(s"""{"$name": null}""").named.keySet, Set(name))
    val sql = "SELECT 1 -- " + "x" * (21 << 20)
    assert(OperationRequest.parse(s"""{"sql": "$sql"}""").sql == sql)
  }

  test("an error that quotes a long statement is told") {
    val failed = new OperationFailed("statement", "X", "y" * (21 << 20), None)
    val json = Failure.json(failed, StackTrace.Kept, "")
    assertEquals(Json.mapper.readTree(json).get("message").asText.length, 21 << 20)
  }
}
