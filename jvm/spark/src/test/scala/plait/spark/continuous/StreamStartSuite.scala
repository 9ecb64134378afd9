// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.nio.file.{Files, Path}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streaming.StreamingQuery

import plait.spark.SparkSuite
import plait.spark.result.{Json, OperationFailed}

/** Examples: which stream may write into which folder, and one that is cancelled while it starts. */
class StreamStartSuite extends SparkSuite {
  private lazy val client = spark.asInstanceOf[SparkSession].newSession()
  private lazy val data = Files.createTempDirectory("sinks").toRealPath()

  override def beforeAll(): Unit = {
    client.sql("DROP TABLE IF EXISTS followed")
    client.sql("CREATE TABLE followed (a INT) USING parquet")
    client.sql("INSERT INTO followed VALUES (1), (2)"): Unit
  }

  override def afterAll(): Unit = {
    Streams.close()
    Seq("filled", "lies").foreach(table => client.sql(s"DROP TABLE IF EXISTS $table"))
    client.sql("DROP TABLE followed"): Unit
  }

  /** A stream over all that is there, to its end. */
  private def start(sink: String, checkpoint: String, scopes: String*): RunningStream = {
    val stream = begun(sink, checkpoint, "append", scopes: _*)
    val end = System.nanoTime + 60 * 1000000000L
    while (stream.isActive && System.nanoTime < end) Thread.sleep(20)
    assertEquals(stream.state, "finished", stream.told.toString)
    stream
  }

  private def begun(
      sink: String,
      checkpoint: String,
      mode: String,
      scopes: String*
  ): RunningStream = {
    Streams.open()
    val root = Json.mapper.createObjectNode()
    root.put("sql", "SELECT * FROM STREAM followed").putObject("named")
    Seq("positional", "confKeys").foreach(root.putArray(_))
    scopes.foldLeft(root.putArray("scopes"))(_.add(_))
    root.putArray("folders").add(data.toString)
    root.put("owner", "me").put("state", "").put("streams", 16).put("records", 10)
    root.put("stack", false).put("name", "s").put("mode", mode).putNull("every")
    root.put("checkpoint", place(checkpoint).toString)
    root.set[JsonNode]("sink", Json.mapper.readTree(sink)): Unit
    new StreamStart(client, StreamRequest.parse(root.toString)).run()
  }

  private def place(name: String): Path = data.resolve(name)

  private def files(folder: String): String =
    s"""{"kind": "files", "format": "parquet", "path": "${place(folder)}", "options": {}}"""

  private def table(name: String): String = s"""{"kind": "table", "table": "$name"}"""

  private def refused(start: => RunningStream): String = intercept[OperationFailed](start).code

  private def rows(folder: String): Long = spark.read.parquet(place(folder).toString).count()

  test("a stream goes on into its own folder, from its own checkpoint") {
    start(files("own"), "own-c", "stream")
    assertEquals(rows("own"), 2L)
    client.sql("INSERT INTO followed VALUES (3)")
    start(files("own"), "own-c", "stream")
    assertEquals(rows("own"), 3L)
  }

  test("no other stream writes into it, whose rows would be lost, whoever starts it") {
    start(files("taken"), "first", "stream")
    val before = rows("taken")
    for (scopes <- Seq(Seq("stream"), Seq("stream", "admin"))) {
      assertEquals(refused(start(files("taken"), "second", scopes: _*)), "SINK_IN_USE")
      // A checkpoint that was made by a start that is refused would not be taken for a new one again.
      assert(!place("second").toFile.exists)
      // One whose checkpoint has been used for another folder.
      start(files("other"), "third", scopes: _*)
      assertEquals(refused(start(files("taken"), "third", scopes: _*)), "SINK_IN_USE")
    }
    assertEquals(rows("taken"), before)
  }

  test("a checkpoint that was made anew at the same place is another one") {
    start(files("anew"), "anew-c", "stream")
    Files.move(place("anew-c"), place("gone"))
    assertEquals(refused(start(files("anew"), "anew-c", "stream")), "SINK_IN_USE")
  }

  test(
    "a folder of a stream that nobody has noted is an admin's to go on with, from a checkpoint that is not new"
  ) {
    start(files("unknown"), "unknown-c", "stream")
    Files.delete(place("unknown").resolve("_plait_stream"))
    assertEquals(refused(start(files("unknown"), "unknown-c", "stream")), "SCOPE_NOT_GRANTED")
    assertEquals(refused(start(files("unknown"), "new-c", "stream", "admin")), "SINK_IN_USE")
    start(files("unknown"), "unknown-c", "stream", "admin"): Unit
    start(files("unknown"), "unknown-c", "stream"): Unit // it is noted now
  }

  test("a stream that cannot start leaves the folder to others") {
    val wrong = files("free").replace("{}", """{"compression": "lzo", "maxFilesPerTrigger": "-"}""")
    scala.util.Try(start(wrong.replace("parquet", "avro"), "failing", "stream")): Unit
    start(files("free"), "free-c", "stream")
    assertEquals(rows("free"), client.table("followed").count())
  }

  test("a start that is refused leaves no folder that was not there, and takes none that was") {
    def refuse(sink: String, checkpoint: String): Unit =
      intercept[AnalysisException](begun(sink, checkpoint, "complete", "stream", "admin")): Unit
    refuse(files("deep/sink"), "deep/er/c")
    refuse(files("around"), "around/_checkpoint")
    refuse("""{"kind": "nowhere"}""", "nowhere-c")
    refuse(table("unmade"), "unmade-c")
    val left = Seq("deep", "around", "nowhere-c", "unmade-c").filter(place(_).toFile.exists)
    assertEquals(left, Nil)
    Seq("empty", "empty-c").foreach(folder => Files.createDirectory(place(folder)))
    refuse(files("empty"), "empty-c")
    for (folder <- Seq("empty", "empty-c"))
      assertEquals(place(folder).toFile.list.toSeq, Nil, folder)
    start(files("empty"), "empty-c", "stream"): Unit
  }

  test("so it is for a table that is there") {
    start(table("filled"), "filled-c", "stream")
    assertEquals(refused(start(table("filled"), "filled-d", "stream", "admin")), "SINK_IN_USE")
    start(table("filled"), "filled-c", "stream", "admin"): Unit
  }

  test("neither files nor a checkpoint come to a table, where who may not INSERT starts a stream") {
    val folder = Files.createDirectories(place("tables/t"))
    client.sql(s"CREATE TABLE lies (a INT, day DATE) USING parquet LOCATION '$folder'")
    Files.createSymbolicLink(place("link"), folder)
    for (there <- Seq("tables/t", "tables", "tables/t/new", "link", "tables/t/day=2030-01-01")) {
      assertEquals(refused(start(files(there), "table-c", "stream")), "SCOPE_NOT_GRANTED", there)
      assertEquals(refused(start(files("fresh"), there, "stream")), "SCOPE_NOT_GRANTED", there)
    }
    assertEquals(folder.toFile.list.toSeq, Nil)
    assert(!place("table-c").toFile.exists)
    start(files("tables/t/new"), "tables/t/c", "stream", "admin"): Unit
    start(files("tables/u"), "tables/u-c", "stream"): Unit
  }

  test("nor to files that are there, of which readers would take them for a part") {
    Files.writeString(Files.createDirectories(place("json/day=1")).resolve("a.json"), "{}")
    Files.writeString(Files.createDirectories(place("logs")).resolve("a.json"), "{}")
    for (there <- Seq("json", "json/day=2", "json/day=1/new", "day=1", "logs", "logs/new/er")) {
      assertEquals(refused(start(files(there), "files-c", "stream")), "SCOPE_NOT_GRANTED", there)
      assertEquals(refused(start(files("fresh"), there, "stream")), "SCOPE_NOT_GRANTED", there)
    }
    assertEquals(place("logs").toFile.list.toSeq, Seq("a.json"))
  }

  test(
    "a checkpoint may lie in its stream's folder, where readers pass it over, and is gone on with"
  ) {
    start(files("with"), "with/_checkpoint", "stream"): Unit
    start(files("with"), "with/_checkpoint", "stream"): Unit
    start(files("both"), "both/checkpoint", "stream"): Unit
    start(files("both"), "both/checkpoint", "stream"): Unit
  }

  test("only a checkpoint that another stream runs from is in use") {
    def failing(message: String): Throwable =
      intercept[RuntimeException](
        StreamStart.alone(client)(throw new IllegalStateException(message))
      )
    assertEquals(failing("otherwise").getMessage, "otherwise")
    val one = running("running")
    try assertEquals(intercept[OperationFailed](running("running")).code, "CHECKPOINT_IN_USE")
    finally one.stop()
  }

  /** A stream that runs on, from a checkpoint. */
  private def running(checkpoint: String): StreamingQuery = StreamStart.alone(client) {
    val rows = client.readStream.format("rate").load()
    rows.writeStream.format("noop").option("checkpointLocation", place(checkpoint).toString).start()
  }

  test("a stream that is cancelled while it starts does not run on") {
    val (begun, go) = (new CountDownLatch(1), new CountDownLatch(1))
    @volatile var interrupted, wasStarted = false
    val caller = new Thread(() =>
      try
        StreamStart.alone(client) {
          begun.countDown()
          while (go.getCount > 0) Thread.onSpinWait()
          val query = client.readStream
            .format("rate")
            .load()
            .writeStream
            .format("noop")
            .queryName("half")
            .start()
          wasStarted = query.isActive
          query
        }: Unit
      catch { case _: InterruptedException => interrupted = true }
    )
    caller.start()
    assert(begun.await(10, SECONDS))
    caller.interrupt()
    go.countDown()
    caller.join(60000)
    assert(interrupted && wasStarted)
    assertEquals(client.streams.active.map(_.name).toSeq, Nil)
  }
}
