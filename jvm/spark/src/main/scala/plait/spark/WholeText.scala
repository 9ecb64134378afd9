// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.io.InputStream
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream

/** A short text in a file that is there whole, or not at all, whenever its writer dies or fails:
  *
  * {{{
  * replaced(f, "auto")      f holds auto; while it is written what it held before, and so if that fails
  * made(f, "v1")            the same where there was none; FileAlreadyExistsException where there is one
  * }}}
  *
  * It does not promise more of a file that is there than its file system does, which may take it away before it puts the
  * other in its place.
  */
object WholeText {
  def read(in: InputStream): String =
    Using.resource(in)(bytes => new String(bytes.readAllBytes, UTF_8))

  def lines(in: InputStream): Seq[String] = read(in).lines.iterator.asScala.toSeq

  def replaced(files: CheckpointFileManager, file: Path, text: String): Unit =
    write(files.createAtomic(file, overwriteIfPossible = true), text)

  /** @throws org.apache.hadoop.fs.FileAlreadyExistsException if it is there */
  def made(files: CheckpointFileManager, file: Path, text: String): Unit =
    write(files.createAtomic(file, overwriteIfPossible = false), text)

  /** To close it is to put it in its place. */
  private def write(out: CancellableFSDataOutputStream, text: String): Unit =
    try {
      out.write(text.getBytes(UTF_8))
      out.close()
    } catch {
      case error: Throwable =>
        out.cancel()
        throw error
    }
}
