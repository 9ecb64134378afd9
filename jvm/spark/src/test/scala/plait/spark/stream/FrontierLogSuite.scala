// SPDX-License-Identifier: Apache-2.0
// Examples: what a batch is run with is decided once, whoever writes it down.
package plait.spark.stream

import java.nio.file.Files

import munit.FunSuite
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager
import org.apache.spark.sql.internal.SQLConf

import plait.BySide

class FrontierLogSuite extends FunSuite {
  private val (first, second) = (BySide(1L, 2L), BySide(10L, 20L))

  /** Of one folder a log, and that of one who has asked what is there just before another wrote. */
  private def logs: (FrontierLog, FrontierLog) = {
    val folder = new Path(Files.createTempDirectory("frontiers").toUri)
    val late = new Configuration()
    late.set(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[NoNumberSeen].getName
    )
    (new FrontierLog(folder, new Configuration()), new FrontierLog(folder, late))
  }

  test("of two who note what a batch is run with at once the first decides") {
    val (log, late) = logs
    log.note(7, first)
    late.note(7, second)
    assertEquals(log.of(7), first)
  }

  test("who reads it meanwhile reads what was decided, and not what was known before") {
    val (log, late) = logs
    log.note(7, first)
    log.note(8, second)
    assertEquals(late.of(8), second)
    assertEquals(log.of(8), second)
  }

  for (
    (text, told) <- Seq(
      "v2\n1 2\n" -> "begins with 'v2', and this version of Plait reads 'v1'",
      "" -> "begins with '', and this version of Plait reads 'v1'",
      "v1\n" -> "is damaged: after 'v1' there is one line with two numbers, and not ''",
      "v1\n5\n" -> "is damaged: after 'v1' there is one line with two numbers, and not '5'"
    )
  )
    test(s"a file that cannot be read says so: $told") {
      val folder = Files.createTempDirectory("frontiers")
      Files.writeString(folder.resolve("7"), text)
      val error = intercept[StateFormatException](
        new FrontierLog(new Path(folder.toUri), new Configuration()).of(7)
      )
      assert(error.getMessage.contains(told), error.getMessage)
    }
}

/** Sees no file that is named by a number. */
final class NoNumberSeen(path: Path, conf: Configuration)
    extends FileContextBasedCheckpointFileManager(path, conf) {
  override def exists(path: Path): Boolean =
    path.getName.toLongOption.isEmpty && super.exists(path)
}
