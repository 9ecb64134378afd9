// SPDX-License-Identifier: Apache-2.0
// Example: how often a collected side is read to be indexed.
package plait.spark

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.types.LongType

import plait.spark.side.{CollectedSide, KeyForm}

class CollectedSideSuite extends SparkSuite {
  private val Tasks = 8

  test("all tasks of an executor share one index of a collected side, which is read once for it") {
    val ends = Seq("lo", "hi").map(AttributeReference(_, LongType)())
    val row = Rows.of(LongType, LongType)
    val rows = Array[InternalRow](row(Seq(1L, 9L)), row(Seq(6L, 7L)))
    val side =
      new CollectedSide(new CollectedSideSuite.Counting(rows), KeyForm.of(Nil), ends, ends, 0)
    val sent = spark.sparkContext.broadcast(side)
    val seen = spark.sparkContext
      .parallelize(1 to Tasks, Tasks)
      .map(_ => (System.identityHashCode(sent.value.relation), sent.value.relation.size))
      .collect()
    assertEquals(seen.toSeq.distinct.size, 1, seen.toSeq.toString)
    assertEquals(seen.head._2, rows.length)
    assertEquals(CollectedSideSuite.Asked.get, 1)
  }
}

object CollectedSideSuite {
  private val Asked = new AtomicInteger

  /** Rows that were broadcast, and count how often they are asked for. */
  final private class Counting(rows: Array[InternalRow]) extends Broadcast[Any](0L) {
    override protected def getValue(): Any = {
      val _ = Asked.incrementAndGet()
      rows
    }
    override protected def doUnpersist(blocking: Boolean): Unit = ()
    override protected def doDestroy(blocking: Boolean): Unit = ()
  }
}
