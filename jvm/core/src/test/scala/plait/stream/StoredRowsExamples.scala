// SPDX-License-Identifier: Apache-2.0
// Examples: what the rows that stay in a chunk say, when others of it have left.
package plait.stream

import munit.FunSuite

import plait.join.Harness.Row
import plait.stream.StreamHarness._

class StoredRowsExamples extends FunSuite {
  private def stored(rows: Row*): StoredRows[Row] = {
    val made = new StoredRows[Row](new MapChunkStore(new Stored, capacity = 3), MarkMeans.Matched)
    made.append(new NewRows[Row] {
      def size: Int = rows.size
      def foreachByHash(give: (Int, Long, Long, Mark, Row) => Unit): Unit =
        rows.foreach(r => give(7, r.rank.get, r.reach.get._2, Mark.Unset, r))
    })
    made
  }

  private def row(id: Int, t: Long) = Row(id, 1, Some(t), Some((Long.MinValue, t)))

  test(
    "no row that stays has a lower rank than the least, also where one in three of a chunk left"
  ) {
    val rows = stored(row(1, 10), row(2, 1000), row(3, 1001))
    assertEquals(rows.leastRank, 10L)
    assertEquals(rows.takeDead(11), 1L)
    assertEquals(rows.leastRank, 1000L)
  }
}
