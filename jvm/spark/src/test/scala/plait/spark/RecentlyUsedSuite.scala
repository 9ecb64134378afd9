// SPDX-License-Identifier: Apache-2.0
// Examples.
package plait.spark

class RecentlyUsedSuite extends munit.FunSuite {
  test("of more keys than there is room for, the one that was asked for longest ago is forgotten") {
    val kept = new RecentlyUsed[String, Int](most = 2)
    kept.put("a", 1)
    kept.put("b", 2)
    assertEquals(kept.get("a"), Some(1))
    kept.put("c", 3)
    assertEquals(Seq("a", "b", "c").map(kept.get), Seq(Some(1), None, Some(3)))
  }
}
