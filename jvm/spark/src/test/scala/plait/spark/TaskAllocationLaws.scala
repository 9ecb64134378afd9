// SPDX-License-Identifier: Apache-2.0
// Laws: what a task of a join allocates for a pair, whichever way it goes and whatever its keys are.
package plait.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.metric.SQLMetric

import plait.spark.side.{JoinMetrics, KeySequence}
import plait.{BySide, Side}

class TaskAllocationLaws extends SparkSuite {
  import TaskAllocationLaws._

  for (way <- Ways; form <- SidesByKeyLaws.Forms; joinType <- Seq(Inner, FullOuter, LeftSemi))
    test(s"${joinType.sql}, ${way.name}, ${form.name}: a pair costs no object") {
      val metrics = JoinMetrics.create(spark.sparkContext)
      val each = spark.sparkContext
        .parallelize(Seq(0), 1)
        .map { _ =>
          // Until the loops are compiled, which takes longer where the machine is busy.
          Iterator
            .fill(Runs)(bytesForAPair(way, form, joinType, metrics))
            .find(_ < LessThanAnObject)
        }
        .collect()
        .head
      val gone = Seq(JoinMetrics.RowsInBuckets, JoinMetrics.RowsByKey).filter(metrics(_).value > 0)
      assertEquals(gone, way.counter.toSeq)
      assert(each.isDefined, s"in each of $Runs runs")
    }
}

private object TaskAllocationLaws {

  /** @param counter
    *   of rows that go this way
    */
  final case class Way(
      name: String,
      sequence: KeySequence,
      radix: RadixJoinChoice,
      isSortedHere: Boolean,
      counter: Option[String]
  )

  import KeySequence.{Known, Unknown}
  import RadixJoinChoice.{Always, Auto, Never}
  val Ways: Seq[Way] = Seq(
    Way("by rank, rows in order", Unknown, Never, isSortedHere = false, None),
    Way("by rank, rows sorted here", Unknown, Never, isSortedHere = true, None),
    Way("by bucket", Unknown, Always, isSortedHere = true, Some(JoinMetrics.RowsInBuckets)),
    Way("by key", Known, Auto, isSortedHere = true, Some(JoinMetrics.RowsByKey))
  )

  /** Which has 16 bytes. */
  private val LessThanAnObject = 0.5

  private val Runs = 20

  private val Keys = 10000
  private val RowsAKey = 30
  private val Rows = Keys * RowsAKey

  /** Rows whose times rise, of keys that rise too or come in turn; a row object for each key is there before the first. */
  final private class Lent(form: SidesByKeyLaws.Form, comesByKey: Boolean)
      extends Iterator[InternalRow] {
    private val rows = Array.tabulate(Keys) { k =>
      form.row(SidesByKeyLaws.Row(0, Some(k.toLong), Some(0))).copy().asInstanceOf[UnsafeRow]
    }
    private var number = 0
    def hasNext: Boolean = number < Rows
    def next(): InternalRow = {
      val row = rows(if (comesByKey) number / RowsAKey else number % Keys)
      row.setLong(0, number.toLong)
      row.setInt(1, number)
      number += 1
      row
    }
  }

  def bytesForAPair(
      way: Way,
      form: SidesByKeyLaws.Form,
      joinType: JoinType,
      metrics: Map[String, SQLMetric]
  ): Double = {
    val task =
      SidesByKeyLaws.join(joinType, form, metrics, way.sequence, way.radix, way.isSortedHere)
    val comesByKey = way.sequence eq Known
    val pairs =
      task.join(BySide.make((_: Side) => new Lent(form, comesByKey): Iterator[InternalRow]))
    def take(count: Int): Unit = {
      var i = 0
      while (i < count) {
        require(pairs.advance())
        i += 1
      }
    }
    // What is sorted or dealt is so before the first pair.
    take(Rows / 3)
    val each = Seq.fill(5) {
      val before = AllocatedBytes.now
      take(Rows / 10)
      (AllocatedBytes.now - before) / (Rows / 10.0)
    }
    while (pairs.advance()) {}
    // The least: a buffer may grow in one of them.
    each.min
  }
}
