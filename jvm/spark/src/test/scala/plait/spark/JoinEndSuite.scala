// SPDX-License-Identifier: Apache-2.0
// Examples: what a join gives back when it is over, and how soon it ends when it is told to.
package plait.spark

import java.util.concurrent.atomic.AtomicLong

import scala.util.Try

import org.apache.spark.TaskContext
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.plait.TaskMemory

class JoinEndSuite extends SparkSuite {
  private val ours = Seq(
    PlaitConf.JoinStrategy -> "always",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.shuffle.partitions" -> "1"
  )

  private def table(rows: Int) = s"(SELECT id, id % 100 AS k, id AS t FROM range($rows))"

  for (joinType <- Seq("INNER", "LEFT", "FULL", "LEFT SEMI", "LEFT ANTI"))
    test(s"a $joinType JOIN gives its memory back after its last row, before its task ends") {
      withConf(ours: _*) {
        val sql =
          s"SELECT l.id FROM ${table(20000)} l $joinType JOIN ${table(3000)} r ON l.k = r.k " +
            "AND l.t BETWEEN r.t - 10 AND r.t + 100000 AND l.k <> 7"
        val held = spark
          .sql(sql)
          .queryExecution
          .toRdd
          .mapPartitions { rows =>
            val memory = TaskMemory.of(TaskContext.get())
            var most = 0L
            for ((_, i) <- rows.zipWithIndex if i % 1000 == 0)
              most = math.max(most, memory.getMemoryConsumptionForThisTask)
            Iterator(most -> memory.getMemoryConsumptionForThisTask)
          }
          .collect()
        assert(held.map(_._1).max > (1 << 20), s"most while it runs: ${held.toSeq}")
        assertEquals(held.map(_._2).max, 0L, held.toSeq.toString)
      }
    }

  /** Makes a function that takes its time and is never TRUE.
    * @return
    *   how often it was asked
    */
  private def rejecting(name: String)(pause: () => Unit): AtomicLong = {
    JoinEndSuite.Asked.set(0)
    spark.udf.register(
      name,
      udf { (_: Long) =>
        pause()
        JoinEndSuite.Asked.incrementAndGet() < 0
      }
    )
    JoinEndSuite.Asked
  }

  test("a task that is killed ends while one row meets many that the condition rejects") {
    val asked = rejecting("slowly")(() => Thread.sleep(1))
    withConf(ours: _*) {
      // The sides come in turns: the last row of r, the only one with a partner, meets all of l.
      val sql =
        "SELECT l.id FROM (SELECT id, id % 1 AS k FROM range(0, 30000, 1, 1)) l " +
          "JOIN (SELECT id, IF(id = 29999, 0, 5) AS k FROM range(0, 30000, 1, 1)) r ON l.k = r.k " +
          "AND slowly(l.id + r.id)"
      val query = new Thread(() => {
        spark.sparkContext.setJobGroup("killed", "a join", interruptOnCancel = false)
        val _ = Try(spark.sql(sql).collect())
      })
      query.start()
      while (asked.get == 0) Thread.sleep(10)
      spark.sparkContext.cancelJobGroup("killed")
      query.join()
      // A job that is cancelled is over at once; its task is over when it asks no more.
      var before = -1L
      while (asked.get != before) {
        before = asked.get
        Thread.sleep(200)
      }
      assert(asked.get < 15000, s"asked of ${asked.get} of 30,000 rows")
    }
  }

  test("so does one of a streaming query that is stopped") {
    // What sleeps would be woken, and fail.
    val asked = rejecting("busily") { () =>
      val until = System.nanoTime + 1000000
      while (System.nanoTime < until) Thread.onSpinWait()
    }
    withConf(ours: _*) {
      for (name <- Seq("l", "r"))
        spark.readStream
          .format("rate-micro-batch")
          .option("rowsPerBatch", 5000)
          .load()
          .selectExpr("value", "IF(value < 0, value, 0) AS k")
          .createOrReplaceTempView(name)
      val query = spark
        .sql("SELECT l.value FROM l JOIN r ON l.k = r.k AND busily(l.value + r.value)")
        .writeStream
        .format("noop")
        .start()
      while (asked.get == 0) Thread.sleep(10)
      query.stop()
      // A job that is cancelled is over at once, too.
      val last = System.nanoTime + 20000000000L
      var before = -1L
      while (asked.get != before && System.nanoTime < last) {
        before = asked.get
        Thread.sleep(200)
      }
      assertEquals(asked.get, before, "it still asks after 20 seconds")
    }
  }
}

private object JoinEndSuite {
  val Asked = new AtomicLong
}
