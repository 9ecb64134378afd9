// SPDX-License-Identifier: Apache-2.0
// Examples: rows of a join that cannot be written to a file.
package plait.spark

import java.io.IOException

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.TaskMemory
import org.apache.spark.sql.types.LongType

import plait.spark.side._

class KeptRowsLaws extends SparkSuite {
  test("rows that cannot be written stay in memory as they are, and nobody tries again soon") {
    val found = spark.sparkContext.parallelize(Seq(0), 1).map(_ => KeptRowsLaws.inTask()).collect()
    val (freed, tries, rows) = found.head
    assertEquals(freed, Seq(0L, 0L))
    assertEquals(tries, 1)
    assertEquals(rows, Seq.tabulate(10000)(_.toLong))
  }
}

private object KeptRowsLaws {

  /** Bytes freed by each try, how often a file was asked for, the rows afterwards. */
  def inTask(): (Seq[Long], Int, Seq[Long]) = {
    val row = Rows.of(LongType)
    val held = new RankedRows(TaskMemory.of(TaskContext.get()))
    for (number <- 0 until 10000) held.insert(row(Seq(number.toLong)), number.toLong)
    var tries = 0
    def noFile(): RankedFile = {
      tries += 1
      throw new IOException("the disk is full")
    }
    val kept = new KeptRows(held, () => noFile(), new SQLMetric("size"), 1)
    val buckets = new KeptRows.Buckets {
      def count: Int = 10000
      def endOf(place: Int): Int = place / 100 * 100 + 100
      def rank(place: Int): Long = held.rankOf(place)
      def handle(place: Int): Long = held.handle(place)
      def loadFrom(place: Int): Unit = ()
    }
    val freed = Seq(10, 200).map(from => kept.toFile(buckets, Array.emptyLongArray, 0, from, None))
    val at = new UnsafeRow(1)
    val rows = (0 until 10000).map { place =>
      kept.point(held.handle(place), at)
      at.getLong(0)
    }
    require(!kept.isInFile)
    held.clear()
    (freed, tries, rows)
  }
}
