// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.io.FileNotFoundException
import java.util.{ConcurrentModificationException, UUID}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.runtime.StreamMetadata
import org.apache.spark.sql.execution.streaming.sinks.FileStreamSink
import org.apache.spark.sql.streaming.StreamingQuery

import plait.spark.WholeText
import plait.spark.result.OperationFailed

/** A folder that a stream writes files into, and whose it is: the query's id, which is in its checkpoint too.
  *
  * {{{
  * /data/c/metadata            {"id": "0c9..."}
  * /data/out/_plait_stream     0c9...
  * /data/out/_spark_metadata   which batches are in: 0, 1, 2, ...
  * }}}
  *
  * Spark's sink takes a batch whose number it has for one that is run again, and drops its rows. So a stream from
  * another checkpoint, whose batches are numbered from 0 again, would lose rows in silence, and then mix its own
  * with the others.
  *
  *   1. The first stream that starts has the folder, for as long as there is the folder: also when it has ended.
  *   1. A folder that has batches and no owner was filled by another program, or by an older version. A new
  *      checkpoint cannot be its; whether an old one is, only a person knows.
  */
final private[continuous] class SinkFolder(folder: Path, conf: Configuration) {
  private val owner = new Path(folder, SinkFolder.Owner)

  /** Starts a stream that has this folder; refuses one that does not.
    *
    * @param unsure
    *   refuses, or not, where batches have no owner and the checkpoint is not new
    */
  def owned(checkpoint: Path, unsure: => Unit)(start: => StreamingQuery): StreamingQuery = {
    val before = idOf(checkpoint)
    // Judged before the checkpoint is made, which is no new one then.
    if (before.isEmpty && (read.isDefined || hasBatches)) throw inUse
    if (read.isEmpty && hasBatches) unsure
    val isMade = before.isEmpty && make(checkpoint)
    var isNew = false
    try {
      val id = idOf(checkpoint).get
      isNew = read.isEmpty && write(id)
      if (!read.contains(id)) throw inUse
      start
    } catch {
      case error: Throwable =>
        Shielded {
          if (isNew && !hasBatches) files.delete(owner)
          if (isMade) unmake(checkpoint)
        }
        throw error
    }
  }

  /** Notes whose a folder is that was not there before its stream. */
  def note(query: StreamingQuery): Unit = write(query.id.toString): Unit

  private def files: CheckpointFileManager = CheckpointFileManager.create(folder, conf)

  private def hasBatches: Boolean = files.exists(new Path(folder, FileStreamSink.metadataDir))

  private def read: Option[String] =
    try Some(WholeText.read(files.open(owner)).trim)
    catch { case _: FileNotFoundException => None }

  /** Whether it is written now, and was not there. */
  private def write(id: String): Boolean = {
    if (!files.exists(folder)) files.mkdirs(folder)
    try {
      WholeText.made(files, owner, id)
      true
    } catch { case _: FileAlreadyExistsException => false }
  }

  private def metadata(checkpoint: Path): Path = new Path(checkpoint, "metadata")

  private def idOf(checkpoint: Path): Option[String] =
    StreamMetadata.read(metadata(checkpoint), conf).map(_.id)

  /** Writes the id that Spark will find in a new checkpoint; whether it was not there. */
  private def make(checkpoint: Path): Boolean = {
    val places = CheckpointFileManager.create(checkpoint, conf)
    if (!places.exists(checkpoint)) places.mkdirs(checkpoint)
    try {
      StreamMetadata.write(StreamMetadata(UUID.randomUUID.toString), metadata(checkpoint), conf)
      true
    } catch {
      // Another start of the same checkpoint was the quicker one; Spark lets one of the two run.
      case error: ConcurrentModificationException =>
        if (idOf(checkpoint).isEmpty) throw error
        false
    }
  }

  /** Takes the id away, if no query has begun by it. */
  private def unmake(checkpoint: Path): Unit = {
    val places = CheckpointFileManager.create(checkpoint, conf)
    if (places.list(checkpoint).map(_.getPath.getName).sameElements(Seq("metadata")))
      places.delete(metadata(checkpoint))
  }

  private def inUse: OperationFailed = new OperationFailed(
    "exists",
    "SINK_IN_USE",
    s"The folder $folder has the rows of a stream from another checkpoint. Rows of this one would be lost, because " +
      "batches of the same numbers are there, or be mixed with those: take another folder, or the checkpoint of that stream.",
    None
  )
}

private[continuous] object SinkFolder {

  /** No reader of the folder takes it for data. */
  val Owner = "_plait_stream"
}
