// SPDX-License-Identifier: Apache-2.0
// Laws: the stores of rows and keys against Scala's own collections.
package plait.spark

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.SparkConf
import org.apache.spark.memory.{TaskMemoryManager, UnifiedMemoryManager}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{BinaryType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import plait.Side
import plait.join.KeyGroup
import plait.spark.side.{PagedRowStore, UnsafeKeyTable}

class RowsAndKeysLaws extends munit.FunSuite {
  private def memory(offHeap: Boolean = false): TaskMemoryManager = {
    val conf = new SparkConf().set("spark.memory.offHeap.enabled", offHeap.toString)
    if (offHeap) conf.set("spark.memory.offHeap.size", "64m")
    new TaskMemoryManager(UnifiedMemoryManager(conf, 1), 0)
  }

  for (mode <- Seq("on heap" -> false, "off heap" -> true))
    test(s"what was put is what one gets, through frees in any sequence (${mode._1})") {
      val random = new Random(7)
      val manager = memory(mode._2)
      val store = new PagedRowStore(manager, 2)
      val row = Rows.of(LongType, BinaryType)
      val live = mutable.Map.empty[Long, UnsafeRow]
      for (step <- 1 to 20000)
        if (live.isEmpty || random.nextInt(100) < 52) {
          // Now and then a row that is larger than a page.
          val size = if (random.nextInt(500) == 0) 200000 else random.nextInt(300)
          val bytes = new Array[Byte](size)
          random.nextBytes(bytes)
          val put = row(Seq(step.toLong, bytes))
          live(store.put(put)) = put
        } else {
          val handle = if (random.nextBoolean()) live.keys.head else live.keys.maxBy(_ ^ step)
          assertEquals(store.get(handle), live(handle))
          store.free(handle)
          live -= handle
        }
      live.foreach { case (handle, put) => assertEquals(store.get(handle), put) }
      store.close()
      assertEquals(manager.cleanUpAllAllocatedMemory(), 0L, "memory was left behind")
    }

  test("rows that die in the sequence in which they came need few pages") {
    val manager = memory()
    val store = new PagedRowStore(manager, 1)
    val row = Rows.of(LongType)(Seq(1L))
    val queue = mutable.Queue.empty[Long]
    for (_ <- 1 to 1000000) {
      queue.enqueue(store.put(row))
      if (queue.size > 1000) store.free(queue.dequeue())
    }
    assert(store.getUsed <= 512 * 1024, s"${store.getUsed} bytes for 1,000 small rows")
    store.close()
  }

  test("a key is found if and only if it was claimed and not released") {
    val random = new Random(11)
    val table = new UnsafeKeyTable
    val key = Rows.of(StringType, LongType)
    val claimed = mutable.Map.empty[Int, KeyGroup]
    def bytes(id: Int) = key(Seq(UTF8String.fromString("k" * (id % 40)), id.toLong))
    for (_ <- 1 to 50000) {
      val id = random.nextInt(3000)
      val found = table.find(bytes(id))
      assertEquals(Option(found), claimed.get(id))
      if (random.nextBoolean()) claimed(id) = table.claim(bytes(id))
      else claimed.remove(id).foreach(table.release)
      assertEquals(table.size, claimed.size)
    }
  }

  test("keys of equal hash are told apart by their bytes") {
    // Some 80,000 random keys are enough for two of equal 32-bit hash.
    val random = new Random(3)
    val row = Rows.of(LongType)
    val byHash = mutable.Map.empty[Int, Long]
    val (a, b) = Iterator
      .continually(random.nextLong())
      .map(x => (byHash.put(row(Seq(x)).hashCode, x), x))
      .collectFirst { case (Some(y), x) => (x, y) }
      .get
    val table = new UnsafeKeyTable
    val groups = Seq(a, b).map(x => table.claim(row(Seq(x))))
    assert(groups(0) ne groups(1))
    groups(1).run(Side.Left).insert(0, 0)
    table.release(groups(0))
    assertEquals(table.find(row(Seq(b))), groups(1))
    assertEquals(table.find(row(Seq(a))), null)
  }
}
