// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.nio.file.Files

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import plait.spark.SparkSuite

/** Examples: what sessions see of tables that streams fill, and for how long it is known that they do. */
class FilledTablesSuite extends SparkSuite {
  private lazy val one: SparkSession = spark.asInstanceOf[SparkSession].newSession()
  private lazy val other = one.newSession()
  private val name = TableName("spark_catalog", Seq("default"), "filled_by_stream")

  private def known(session: SparkSession): Int = {
    FilledTables.readAnew(session)
    FilledTables.size
  }

  private def rows(session: SparkSession): Long = {
    FilledTables.readAnew(session)
    session.table(name.name).count()
  }

  /** Runs over the rows of `source` and waits for more, every so many milliseconds. */
  private def fill(): StreamingQuery = FilledTables.filling(name) {
    one.readStream
      .table("source_of_stream")
      .writeStream
      .option("checkpointLocation", Files.createTempDirectory("filled").toString)
      .trigger(Trigger.ProcessingTime(0L))
      .toTable(name.name)
  }

  test(
    "a table is known while its stream runs, each session sees its rows, and then it is forgotten"
  ) {
    one.sql("CREATE TABLE source_of_stream AS SELECT 1 AS a")
    val before = known(one)
    val query = fill()
    try {
      query.processAllAvailable()
      assertEquals((rows(one), rows(other)), (1L, 1L))
      assertEquals(known(one), before + 1)
      one.sql("INSERT INTO source_of_stream VALUES (2), (3)")
      query.processAllAvailable()
      assertEquals((rows(one), rows(other)), (3L, 3L))
      one.sql("INSERT INTO source_of_stream VALUES (4)")
      query.processAllAvailable()
    } finally query.stop()
    assertEquals(known(one), before)
    // What came after it was read last is seen, though the table is known no more.
    assertEquals((rows(one), rows(other)), (4L, 4L))
  }

  test("a stream that does not start leaves nothing known") {
    val before = known(one)
    intercept[IllegalStateException](FilledTables.filling(name)(throw new IllegalStateException))
    assertEquals(known(one), before)
  }

  override def afterAll(): Unit =
    Seq("source_of_stream", name.name).foreach(t => one.sql(s"DROP TABLE IF EXISTS $t"))
}
