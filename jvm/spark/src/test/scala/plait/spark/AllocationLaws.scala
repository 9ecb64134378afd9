// SPDX-License-Identifier: Apache-2.0
// Laws: what the loop of a join over sorted rows allocates, once its buffers are as large as they get.
package plait.spark

import java.io.File

import org.apache.spark.SparkConf
import org.apache.spark.memory.{TaskMemoryManager, UnifiedMemoryManager}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans._

import plait.spark.side.{PagedRowStore, SpillFile, SpillTarget}
import plait.{BySide, Side}

class AllocationLaws extends munit.FunSuite {

  /** Rows (s % 5, s) of s = 0, 1, 2, ...; one row object, as a reader of shuffled rows has it. */
  final private class Rising extends Iterator[InternalRow] {
    private val row = new UnsafeRow(2)
    row.pointTo(new Array[Byte](24), 24)
    private var s = -1L
    def hasNext: Boolean = true
    def next(): InternalRow = {
      s += 1
      row.setLong(0, s % 5)
      row.setLong(1, s)
      row
    }
  }

  private object NoSpill extends SpillTarget {
    override def newFile(): SpillFile =
      new SpillFile(File.createTempFile("plait", "spill"), None)
    override def count(more: Long): Unit = ()
  }

  private def pages = {
    val conf = new SparkConf()
      .set("spark.memory.offHeap.enabled", "false")
      .set("spark.testing.memory", (64L << 20).toString)
      .set("spark.testing.reservedMemory", "0")
    new PagedRowStore(new TaskMemoryManager(UnifiedMemoryManager(conf, 1), 0), 2, NoSpill)
  }

  for (joinType <- Seq(Inner, LeftOuter, FullOuter, LeftSemi))
    test(s"a row of ${joinType.sql} costs no object") {
      val inputs = BySide.make((_: Side) => new Rising: Iterator[InternalRow])
      val rows = new SortedJoin(inputs, joinType, pages).rows
      def take(count: Int): Unit = {
        var i = 0
        while (i < count) {
          val _ = rows.next()
          i += 1
        }
      }
      take(500000)
      // The least of some stretches: on a busy machine the loop may not be compiled when the first one begins.
      val each = Iterator
        .fill(5) {
          val before = AllocatedBytes.now
          take(200000)
          (AllocatedBytes.now - before) / 200000.0
        }
        .min
      // The smallest object has 16 bytes.
      assert(each < 0.5, s"$each bytes a row")
    }
}
