// SPDX-License-Identifier: Apache-2.0
// Example.
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

class NoKeyTableSuite extends munit.FunSuite {
  test("the key of no columns has the hash that states hold, of a key row without columns") {
    val row: UnsafeRow = UnsafeProjection.create(Nil).apply(null)
    val key = new RowKey {}
    key.key = row
    assertEquals(new NoKeyTable().hash(key), new RowKeyTable().hash(key))
  }
}
