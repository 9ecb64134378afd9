// SPDX-License-Identifier: Apache-2.0
// Examples: how long an as-of join of streams remembers rows that get another end while they wait.
package plait.stream

import munit.FunSuite

import plait.join.Harness._
import plait.join.{Rankless, SortableRowStore}
import plait.stream.StreamHarness._
import plait.{BySide, Side}

class AsOfLifetimeScripts extends FunSuite {
  private val length = 160L

  /** Batches at times, and the rows that wait after each. */
  final private class Script(superseding: Superseding) {
    private var stored = BySide(new Stored, new Stored)

    /** Of the last batch: the left rows that are answered, and the right rows that each may pick. */
    var answered: Seq[(Int, Seq[Int])] = Nil

    def at(now: Long, right: Long = Frontier.Unknown)(lefts: Row*)(rights: Row*): BySide[Long] = {
      val pages = BySide.make(_ => new ArrayRowStore[Row])
      stored = stored.map(_.copied)
      val join = new StreamAsOfJoin[Reader, Row](
        BySide.make(_ => new Reader(Rankless.Dead)),
        new KeysOfReaders,
        pages.map(p => p: SortableRowStore[Row]),
        stored.map(s =>
          new StoredRows[Row](new MapChunkStore(s, 3), MarkMeans.Gone, Lifetime(now, length))
        ),
        superseding,
        byId,
        BySide(Frontier.Unknown, right)
      )
      lefts.foreach(join.add(Side.Left, _))
      rights.foreach(join.add(Side.Right, _))
      join.run()
      def listed(side: Side) = {
        val list = join.rows(side)
        Seq.tabulate(list.size)(i => pages(side).get(list(i)))
      }
      answered =
        listed(Side.Left).map(l => l.id -> listed(Side.Right).filter(mutual(l, _)).map(_.id))
      BySide.make(join.waiting)
    }
  }

  private def row(id: Int, t: Long, reach: (Long, Long)) = Row(id, 1, Some(t), Some(reach))

  test("a version that is superseded is forgotten when its own time is over") {
    val script = new Script(Superseding.ByNext)
    assertEquals(script.at(0)()(row(1, 10, (10, Long.MaxValue))), BySide(0L, 1L))
    assertEquals(script.at(100)()(row(2, 20, (20, Long.MaxValue))), BySide(0L, 2L))
    assertEquals(script.at(170)()(), BySide(0L, 1L))
    assertEquals(script.at(270)()(), BySide(0L, 0L))
  }

  test("a left row that is answered when its time is over picks a version that is forgotten then") {
    val script = new Script(Superseding.ByNext)
    script.at(0)(row(1, 10, (Long.MinValue, 10)))(row(2, 5, (5, Long.MaxValue)))
    assertEquals(script.at(170)()(), BySide(0L, 0L))
    assertEquals(script.answered, Seq(1 -> Seq(2)))
  }

  test(
    "where right rows may be forgotten, a row that looks forward waits for all that it reaches"
  ) {
    val script = new Script(Superseding.ByFirst)
    script.at(0)(row(1, 10, (10, 1000)))(row(2, 50, (0, 50)))
    script.at(1, right = 60)()()
    assertEquals(script.answered, Nil)
    script.at(170, right = 60)()(row(3, 70, (0, 70)))
    assertEquals(script.answered, Seq(1 -> Seq(2, 3)))
  }
}
