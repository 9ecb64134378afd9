// SPDX-License-Identifier: Apache-2.0
// Scripts: a probe reads what may match it, and no more.
package plait.stream

import munit.FunSuite

import plait.BySide
import plait.Side.{Left, Right}
import plait.join.Harness._
import plait.stream.StreamHarness._

class ProbingScripts extends FunSuite {

  /** `r.t BETWEEN l.t AND l.t + length`, each row with a length of its own. */
  private def left(id: Int, key: Int, t: Long, length: Long) =
    Left -> Row(id, key, Some(t), Some((t, t + length)))

  test(
    "a chunk of which no wanted key reaches the ranks is not read, though other keys reach far"
  ) {
    val j = new Streams(capacity = 4)()
    // Two chunks, by hash: key 0, and keys 1.
    j.batch(
      (0 until 4).map(i => left(i, 0, 10, 1000)) ++ (4 until 8).map(i => left(i, 1, 500, 1000))
    )
    j.batch(
      Seq(
        Right -> Row(1, 0, Some(600L), Some((400L, 600L))),
        Right -> Row(2, 1, Some(20L), Some((0L, 20L)))
      )
    )
    assertEquals(j.chunksRead.left, 0)
  }

  test("rows that reach less far than the rank of who probes are not read, whatever their ranks") {
    val j = new Streams(capacity = 4)()
    j.batch((0 until 4).map(i => left(i, 0, i.toLong, 10)))
    j.batch((4 until 8).map(i => left(i, 0, i.toLong, 1000)))
    val probe = Right -> Row(9, 0, Some(100L), Some((Long.MinValue, 100L)))
    assertEquals(j.batch(Seq(probe)), (4 until 8).map(i => Matched(i, Some(9))))
    assertEquals(j.chunksRead.left, 1)
  }

  private def version(id: Int, t: Long) = Row(id, 1, Some(t), Some((t, Long.MaxValue)))
  private def asks(id: Int, t: Long) = Row(id, 1, Some(t), Some((Long.MinValue, t)))

  /** 300 versions of one key, of which no frontier lets one go. */
  private def history = {
    val join = new AsOfStreams(Superseding.ByNext, capacity = 8, few = 16)
    var read = 0
    for (batch <- 0 until 30) {
      join.at(0)()((0 until 10).map(i => version(10 * batch + i, 100L * batch + 10 * i)): _*)
      read = join.chunksRead.right
    }
    (join, read)
  }

  test("a version reads the one that it supersedes, and not all that the key has") {
    val (join, _) = history
    assertEquals(join.at(0)()(version(1000, 3000)), BySide(0L, 301L))
    assertEquals(join.largestKeys.right, 2)
    assert(join.chunksRead.right <= 6, s"${join.chunksRead.right} chunks of 38 and more were read")
  }

  test("a version that comes late takes its place between two, and reads those after the first") {
    val (join, _) = history
    assertEquals(join.at(0)()(version(1000, 2975)), BySide(0L, 301L))
    assertEquals(join.largestKeys.right, 4)
    val until = BySide(Frontier.Unknown, Frontier.at(3000))
    join.batch(0, until)(asks(1, 2974), asks(2, 2975), asks(3, 2979), asks(4, 2980))()
    assertEquals(
      join.answered.map(a => a._1 -> a._2.last),
      Seq(1 -> 297, 2 -> 1000, 3 -> 1000, 4 -> 298)
    )
  }

  test("a left row reads the version that it picks, and not those that were superseded before it") {
    val (join, _) = history
    val until = BySide(Frontier.Unknown, Frontier.at(3000))
    join.batch(0, until)(asks(1, 2995))()
    assertEquals(join.answered, Seq(1 -> Seq(299)))
    assert(join.chunksRead.right <= 6, s"${join.chunksRead.right} chunks of 38 and more were read")
  }
}
