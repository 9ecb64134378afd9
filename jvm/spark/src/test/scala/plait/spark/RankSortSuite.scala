// SPDX-License-Identifier: Apache-2.0
// Examples and an oracle: the sort that the join does itself, in memory, in stretches and spilled.
package plait.spark

import org.apache.spark.memory.MemoryConsumer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  GenericInternalRow,
  UnsafeProjection
}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.plait.TaskMemory
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.{SparkEnv, TaskContext}

import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.side.{JoinMetrics, RankSort}

class RankSortSuite extends SparkSuite with AdaptiveSparkPlanHelper {
  private val spillAfter = "spark.shuffle.spill.numElementsForceSpillThreshold"

  // Both sides come backwards; every 17th order and every 13th key is NULL.
  private def table(name: String, rows: Int): String =
    s"(SELECT id, IF(id % 13 = 0, NULL, id % 5) AS k, IF(id % 17 = 0, NULL, $rows - id) AS t, " +
      s"repeat('x', CAST(id % 40 AS INT)) AS payload FROM range($rows)) $name"

  private def query(joinType: String) =
    s"SELECT l.id, length(l.payload), r.id, length(r.payload) FROM ${table("l", 4000)} " +
      s"$joinType JOIN ${table("r", 3000)} ON l.k = r.k AND r.t BETWEEN l.t - 7 AND l.t + 3"

  private def rows(joinType: String): (Seq[String], Option[SymmetricHashJoinExec]) = {
    val df = spark.sql(query(joinType))
    val found = df.collect().map(_.toString).sorted.toSeq
    val join = collect(df.queryExecution.executedPlan) { case join: SymmetricHashJoinExec => join }
    (found, join.headOption)
  }

  private def spilling[A](body: => A): A = {
    val conf = SparkEnv.get.conf
    conf.set(spillAfter, "100")
    try body
    finally { val _ = conf.remove(spillAfter) }
  }

  for (joinType <- Seq("INNER", "LEFT", "FULL"))
    test(s"$joinType: inputs that spill give the rows of Spark's join, and count their bytes") {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
        val (expected, _) = withConf(PlaitConf.Enabled -> "false")(rows(joinType))
        val (inMemory, calm) = rows(joinType)
        val (found, spilled) = spilling(rows(joinType))
        assert(expected.size > 3000)
        assertEquals(inMemory, expected)
        assertEquals(found, expected)
        assertEquals(calm.map(_.metrics(JoinMetrics.SpillSize).value), Some(0L))
        assert(spilled.exists(_.metrics(JoinMetrics.SpillSize).value > 0))
      }
    }

  import RankSortSuite.Count

  /** The ranks in the sequence in which a task's sort gives them, with other memory wanted by somebody else
    * once `before` are read; and whether the row given last was still the same then.
    */
  private def sortedInTask(before: Int)(rankOf: Int => Long): (Seq[Long], Boolean) = {
    val metrics = JoinMetrics.create(spark.sparkContext)
    val column = AttributeReference("rank", LongType)()
    spark.sparkContext
      .parallelize(Seq(1), 1)
      .map { _ =>
        val memory = TaskMemory.of(TaskContext.get())
        val other = new MemoryConsumer(memory, memory.getTungstenMemoryMode) {
          override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
        }
        val made = new RankSortSuite.OneLong
        val rows = Iterator.tabulate(RankSortSuite.Count)(n => made.of(rankOf(n)))
        val sorted = new RankSort(column, Seq(column), metrics).sorted(rows)
        val first = Seq.fill(before)(sorted.next().getLong(0))
        val held = if (before == 0) None else Some(sorted.next())
        val rank = held.map(_.getLong(0))
        if (held.isDefined) memory.releaseExecutionMemory(other.acquireMemory(1L << 50), other)
        val isSame = held.map(_.getLong(0)) == rank
        (first ++ rank ++ sorted.map(_.getLong(0)).toSeq, isSame)
      }
      .collect()
      .head
  }

  test(
    "rows that are kept stay in memory when it is short, and go to a file once they are let go"
  ) {
    val metrics = JoinMetrics.create(spark.sparkContext)
    val spilled = metrics(JoinMetrics.SpillSize)
    val column = AttributeReference("rank", LongType)()
    val (kept, gone, found) = spark.sparkContext
      .parallelize(Seq(1), 1)
      .map { _ =>
        val memory = TaskMemory.of(TaskContext.get())
        val other = new MemoryConsumer(memory, memory.getTungstenMemoryMode) {
          override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
        }
        def bytesWrittenForOthers(): Long = {
          val before = spilled.value
          memory.releaseExecutionMemory(other.acquireMemory(1L << 50), other)
          spilled.value - before
        }
        val made = new RankSortSuite.OneLong
        val sort = new RankSort(column, Seq(column), metrics)
        sort.fill(Iterator.tabulate(RankSortSuite.Count)(n => made.of(-n.toLong)))
        sort.keep()
        val kept = bytesWrittenForOthers()
        sort.letGo()
        val gone = bytesWrittenForOthers()
        (kept, gone, sort.sorted(Iterator.empty).map(_.getLong(0)).toSeq)
      }
      .collect()
      .head
    assertEquals(kept, 0L)
    assert(gone > 0)
    assertEquals(found, Seq.tabulate(Count)(n => n + 1L - Count))
  }

  // Spark's own reader keeps 1 MB a file up to the end of the task: with 4,000 of them that were 4 GB.
  test("rows that go to disk 4,000 times lie in less than a hundred files, in little heap") {
    val metrics = JoinMetrics.create(spark.sparkContext)
    val column = AttributeReference("rank", LongType)()
    def rankOf(n: Int): Long = n * 7919L % Count
    val conf = SparkEnv.get.conf
    conf.set(spillAfter, "5")
    val (most, found) =
      try
        spark.sparkContext
          .parallelize(Seq(1), 1)
          .map { _ =>
            val made = new RankSortSuite.OneLong
            val sort = new RankSort(column, Seq(column), metrics)
            var most = 0
            val rows = Iterator.tabulate(Count) { n =>
              most = math.max(most, sort.filesHeld)
              made.of(rankOf(n))
            }
            val found = sort.sorted(rows).map(_.getLong(0)).toSeq
            (most, found)
          }
          .collect()
          .head
      finally { val _ = conf.remove(spillAfter) }
    assertEquals(found, Seq.tabulate(Count)(rankOf).sorted)
    assert(most > 60 && most <= 96, s"$most files")
  }

  private val sequences = Seq[(String, Int => Long)](
    "in one stretch" -> (_.toLong),
    "in three stretches side by side" -> (n => (n % 7000).toLong),
    "in three stretches, the last first" -> (n => (n % 7000 - n / 7000 * 10000).toLong),
    "in as many stretches as are merged" -> (n => n.toLong % (Count / 127 + 1)),
    "in one stretch more" -> (n => n.toLong % (Count / 128)),
    "in so many that the last row begins the one more" -> (n =>
      if (n == Count - 1) -1L else n.toLong % ((Count - 1) / 127 + 1)
    ),
    "in any sequence" -> (n => (n * 7919L) % Count - 5000),
    "backwards" -> (n => -n.toLong),
    "all of one rank" -> (_ => 7L)
  )

  for ((name, rankOf) <- sequences) {
    test(s"rows that come $name are given by rank") {
      assertEquals(sortedInTask(0)(rankOf)._1, Seq.tabulate(Count)(rankOf).sorted)
    }

    for (before <- Seq(1, 9999))
      test(s"rows that come $name go on from a file after $before, and the last one stays") {
        val (found, isSame) = sortedInTask(before)(rankOf)
        assertEquals(found, Seq.tabulate(Count)(rankOf).sorted)
        assert(isSame)
      }
  }
}

object RankSortSuite {

  private val Count = 20000

  final private class OneLong {
    private val projection = UnsafeProjection.create(Array[DataType](LongType))
    private val values = new GenericInternalRow(1)

    def of(value: Long): InternalRow = {
      values.update(0, value)
      projection(values)
    }
  }
}
