// SPDX-License-Identifier: Apache-2.0
// Examples: how long an as-of join of streams remembers rows that get another end while they wait, and what it counts.
package plait.stream

import munit.FunSuite

import plait.BySide
import plait.join.Harness._

class AsOfLifetimeScripts extends FunSuite {
  private val length = 160L

  private def row(id: Int, t: Long, reach: (Long, Long)) = Row(id, 1, Some(t), Some(reach))

  test("a version that is superseded is forgotten when its own time is over") {
    val script = new AsOfStreams(Superseding.ByNext, length)
    assertEquals(script.at(0)()(row(1, 10, (10, Long.MaxValue))), BySide(0L, 1L))
    assertEquals(script.at(100)()(row(2, 20, (20, Long.MaxValue))), BySide(0L, 2L))
    assertEquals(script.at(170)()(), BySide(0L, 1L))
    assertEquals(script.at(270)()(), BySide(0L, 0L))
  }

  test("a left row that is answered when its time is over picks a version that is forgotten then") {
    val script = new AsOfStreams(Superseding.ByNext, length)
    script.at(0)(row(1, 10, (Long.MinValue, 10)))(row(2, 5, (5, Long.MaxValue)))
    assertEquals(script.at(170)()(), BySide(0L, 0L))
    assertEquals(script.answered, Seq(1 -> Seq(2)))
  }

  test("a version that came late is picked when the one that supersedes it is forgotten") {
    for (beside <- Seq(Nil, Seq(row(5, 15, (Long.MinValue, 15))))) {
      val script = new AsOfStreams(Superseding.ByNext, length)
      script.at(0)()(row(1, 20, (20, Long.MaxValue)))
      script.at(100)()(row(2, 10, (10, Long.MaxValue)))
      script.at(170)()()
      script.at(175, right = 30)(row(3, 25, (Long.MinValue, 25)) +: beside: _*)()
      assertEquals(script.answered.find(_._1 == 3), Some(3 -> Seq(2)))
    }
  }

  test(
    "where right rows may be forgotten, a row that looks forward waits for all that it reaches"
  ) {
    val script = new AsOfStreams(Superseding.ByFirst, length)
    script.at(0)(row(1, 10, (10, 1000)))(row(2, 50, (0, 50)))
    script.at(1, right = 60)()()
    assertEquals(script.answered, Nil)
    script.at(170, right = 60)()(row(3, 70, (0, 70)))
    assertEquals(script.answered, Seq(1 -> Seq(2, 3)))
  }

  test("the largest key is that of most rows, and keys of one hash are counted apart") {
    val script = new AsOfStreams(Superseding.ByNext, length)
    def of(key: Int, ids: Int*) =
      ids.map(id => Row(id, key, Some(id.toLong), Some((id.toLong, Long.MaxValue))))
    // Keys 1 and 4 share a hash.
    script.at(0)()(of(1, 10, 11) ++ of(4, 1, 2, 3) ++ of(2, 30): _*)
    assertEquals(script.largestKeys, BySide(0, 3))
    script.at(1)(of(1, 90): _*)(of(1, 12): _*)
    assertEquals(
      script.largestKeys,
      BySide(1, 3),
      "the two that were superseded or waited, and the new one"
    )
  }

  test("a side lags by how far its newest row is ahead of its frontier") {
    val script = new AsOfStreams(Superseding.ByNext, length)
    script.at(0, right = 25)()(row(1, 10, (10, Long.MaxValue)), row(2, 30, (30, Long.MaxValue)))
    assertEquals(script.lags, BySide(0L, 5L))
    script.at(1, right = 40)(row(3, 50, (0, 50)))()
    assertEquals(script.lags, BySide(0L, 0L))
  }
}
