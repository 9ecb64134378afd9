// SPDX-License-Identifier: Apache-2.0
// Laws: what is counted of an index against the arrays that are there.
package plait.join

import java.lang.reflect.Modifier
import java.util.Comparator

import scala.collection.mutable
import scala.util.Random

import plait.Side
import plait.join.Harness._

class IndexMemoryLaws extends munit.FunSuite {

  private class Counted extends IndexMemory {
    var bytes = 0L
    override def add(more: Long): Unit = bytes += more
  }

  /** The bytes of the arrays that an object holds, each with its head. */
  private def arraysOf(holder: AnyRef): Seq[Long] =
    holder.getClass.getDeclaredFields.toSeq.filterNot(f => Modifier.isStatic(f.getModifiers)).map {
      field =>
        field.setAccessible(true)
        field.get(holder) match {
          case longs: Array[Long] if longs.isEmpty => 0L
          case longs: Array[Long] => 16 + 8L * longs.length
          case ints: Array[Int] => 16 + 4L * ints.length
          case flags: Array[Boolean] => 16L + flags.length
          case references: Array[AnyRef] => 16 + 4L * references.length
          case queue: DeathQueue => arraysOf(queue).sum
          case _ => 0L
        }
    }

  for (
    (what, keyCount, endOf) <- Seq[(String, Int, Random => Long)](
      ("rows die as they came", 50, _ => 30L),
      ("rows die in any sequence", 50, _.nextInt(500).toLong),
      ("one key has all rows", 1, _.nextInt(500).toLong)
    )
  )
    test(s"what is counted is what the arrays take, give or take a few KB: $what") {
      val random = new Random(5)
      val counted = new Counted
      val groups = mutable.Map.empty[Int, KeyGroup]
      val keys = new MapKeyTable[Int]
      val buffer = new MemoryRowBuffer[Row](Side.Left, keys, new ArrayRowStore[Row], counted)
      def actual: Long = arraysOf(buffer).sum + groups.values.map(_.runBytes).sum
      def agree(): Unit =
        assert(math.abs(actual - counted.bytes) < 4096, s"$actual taken, ${counted.bytes} counted")
      for (step <- 1 to 20000) {
        val id = random.nextInt(keyCount)
        val group = groups.getOrElseUpdate(id, new KeyGroup(counted))
        buffer.append(
          group,
          Row(step, id, Some(step.toLong), None),
          step.toLong,
          step + endOf(random)
        )
        if (step % 3000 == 0) {
          agree()
          buffer.takeDead(step.toLong): Unit
        }
      }
      agree()
      assert(counted.bytes > 30000, s"${counted.bytes} bytes")
      buffer.takeAll(): Unit
      agree()
    }

  private val byId: Comparator[Row] = (a: Row, b: Row) => Integer.compare(a.id, b.id)

  test("candidates are counted as what their arrays take: of one key, and of many") {
    for (keyCount <- Seq(1, 5000)) {
      val counted = new Counted
      val core = new AsOfCore[Int, Row](
        new MapKeyTable[Int],
        new ArrayRowStore[Row],
        byId,
        Keeping.All,
        Leaving.Silently,
        counted
      )
      for (step <- 1 to 10000)
        core.offer(step % keyCount, step.toLong, Row(step, step, None, None), Home.Here)
      // 16 bytes a row, in arrays of a power of two; and 72 a key, with 4 of its own in an array.
      val least = 16L * 10000 + 76L * keyCount
      assert(counted.bytes >= least && counted.bytes <= 2 * least, s"${counted.bytes}, not $least")
    }
  }

  private object anyPair extends Pairing[Row, Row, Long] {
    override def isWithin(left: Row, right: Row): Boolean = true
    override def accepts(left: Row, right: Row): Boolean = true
    override def refusesEqual: Boolean = false
    override def distance(left: Row, right: Row): Long = 1
    override def isNearer(a: Long, b: Long): Boolean = a < b
    override def isZero(distance: Long): Boolean = false
  }

  test("left rows that wait for a nearest one are counted") {
    val counted = new Counted
    val core = new NearestCore[Int, Row, Row, Long](
      new MapKeyTable[Int],
      new ArrayRowStore[Row],
      new ArrayRowStore[Row],
      byId,
      anyPair,
      Keeping.All,
      Leaving.Silently,
      counted
    )
    for (step <- 1 to 10000) core.await(1, Row(step, 1, None, None), Home.Here)
    // Its handle, and the position of what is beyond it.
    assert(counted.bytes >= 16L * 10000 && counted.bytes < 64L * 10000, s"${counted.bytes} bytes")
  }

  test("a run takes what it says") {
    val counted = new Counted
    val run = new Run(counted)
    for (entry <- 1 to 5000) run.insert(entry.toLong, entry)
    assertEquals(counted.bytes, run.heapBytes)
    assertEquals(run.heapBytes, 48 + arraysOf(run).sum)
    for (entry <- 1 to 5000) run.remove(entry.toLong, entry)
    assertEquals(counted.bytes, 48 + arraysOf(run).sum)
  }

  test("a run takes what it says where rows of one rank leave in no order") {
    val counted = new Counted
    val run = new Run(counted)
    for (entry <- 1 to 5000) run.insert(7L, entry)
    for (entry <- new scala.util.Random(7).shuffle((1 to 5000).toList)) {
      run.remove(7L, entry)
      assertEquals(counted.bytes, run.heapBytes)
      assertEquals(run.heapBytes, 48 + arraysOf(run).sum)
    }
  }
}
