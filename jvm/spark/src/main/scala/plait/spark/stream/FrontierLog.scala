// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import plait.BySide
import plait.spark.WholeText

/** The frontiers that the rows of earlier batches have promised, one file a batch beside the join's state:
  *
  * {{{
  * state/0/_plait/frontiers/17        what batch 17 is run with: as seen in the batches before it
  *   v1
  *   1767225600000001 -9223372036854775808
  * }}}
  *
  * Conventions:
  *   1. A file is written once, before the batch that uses it. A batch that is run again reads what it read
  *      at first, so that it drops and stores the same rows; of two who write it the first decides.
  *   2. It is written by a task of the batch before, so it is there when that is committed: the rows that have
  *      promised it are not read again. Where both run in one stage, no task knows all rows, and the driver writes it after the
  *      commit.
  *   3. If a file is missing, because the driver died in between, the newest older one serves: a frontier
  *      that held still holds.
  *   4. Ranks that are not known are the least that there is.
  */
final class FrontierLog(folder: Path, conf: Configuration) {
  private val files = CheckpointFileManager.create(folder, conf)

  /** What batch `batch` is run with. */
  def of(batch: Long): BySide[Long] =
    if (files.exists(file(batch))) read(file(batch))
    else {
      val known = batches.filter(_ < batch).maxOption.fold(FrontierLog.Nothing)(b => read(file(b)))
      if (decides(batch, known)) known else read(file(batch))
    }

  /** Notes what batch `batch` is to be run with, unless that is decided. */
  def note(batch: Long, frontiers: BySide[Long]): Unit =
    if (!files.exists(file(batch))) {
      val _ = decides(batch, frontiers)
    }

  /** Forgets what no batch is run with again. */
  def purge(before: Long): Unit =
    batches.filter(_ < before).foreach(batch => files.delete(file(batch)))

  private def file(batch: Long) = new Path(folder, batch.toString)

  private def batches: Seq[Long] =
    if (!files.exists(folder)) Nil
    else files.list(folder).toSeq.flatMap(_.getPath.getName.toLongOption)

  private def read(path: Path): BySide[Long] =
    WholeText.lines(files.open(path)) match {
      case Seq(FrontierLog.Version, FrontierLog.Ranks(left, right)) =>
        BySide(left.toLong, right.toLong)
      case lines if !lines.headOption.contains(FrontierLog.Version) =>
        throw new StateFormatException(
          s"$path begins with '${lines.headOption.getOrElse("")}', and this version of Plait reads " +
            s"'${FrontierLog.Version}'. Go on with the version that wrote it, or start the query with a new checkpoint."
        )
      case lines =>
        throw new StateFormatException(
          s"$path is damaged: after '${FrontierLog.Version}' there is one line with two numbers, and not " +
            s"'${lines.tail.mkString("\n")}'. Start the query with a new checkpoint."
        )
    }

  /** Writes the file of a batch, unless another has done so meanwhile: a task that is run twice, say, or a query whose
    * driver was taken for dead.
    */
  private def decides(batch: Long, frontiers: BySide[Long]): Boolean =
    try {
      write(batch, frontiers)
      true
    } catch { case _: FileAlreadyExistsException => false }

  private def write(batch: Long, frontiers: BySide[Long]): Unit = {
    if (!files.exists(folder)) files.mkdirs(folder)
    val text = s"${FrontierLog.Version}\n${frontiers.left} ${frontiers.right}\n"
    WholeText.made(files, file(batch), text)
  }
}

object FrontierLog {
  private val Version = "v1"
  private val Ranks = "(-?\\d{1,19}) (-?\\d{1,19})".r
  val Nothing: BySide[Long] = BySide(Long.MinValue, Long.MinValue)

  def at(checkpoint: String, operator: Long, conf: Configuration): FrontierLog =
    new FrontierLog(new Path(checkpoint, s"$operator/_plait/frontiers"), conf)
}
