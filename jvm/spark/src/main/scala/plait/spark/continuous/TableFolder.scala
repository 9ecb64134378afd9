// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.nio.channels.{FileChannel, OverlappingFileLockException}
import java.nio.file.StandardCopyOption.{ATOMIC_MOVE, REPLACE_EXISTING}
import java.nio.file.StandardOpenOption.{CREATE, READ, TRUNCATE_EXISTING, WRITE}
import java.nio.file.{DirectoryNotEmptyException, Files, Path}
import java.util.Comparator

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.internal.Logging

import plait.spark.result.Json

/** The server's folder for continuous tables:
  * {{{
  * tables.json           what there is: {"format": 1, "tables": [...]} of [[ContinuousTable]]
  * tables/ID/rows        the files of a table
  * tables/ID/checkpoint  how far its query is
  * }}}
  *
  *   1. `tables.json` is written as a whole or not at all, and is on the disk when [[write]] returns.
  *   1. A folder of a table that is not in it belongs to nobody, and goes when the server starts. Where `tables.json`
  *      itself is not there, it may have been lost: the folders stay, and when the next table is written down they
  *      are moved to `left`, where nothing is deleted.
  *   1. The driver and all executors see the folder at the same place.
  *   1. One server has it at a time, from [[lock]] to [[unlock]] or to the end of its process.
  */
final private[continuous] class TableFolder(val root: Path) extends Logging {
  import TableFolder._

  private val file = root.resolve("tables.json")
  private val tables = root.resolve("tables")

  private var held = Option.empty[FileChannel]

  /** Waits a while for a server that is ending; false where another one has the folder. */
  def lock(): Boolean = {
    Files.createDirectories(root)
    val channel = FileChannel.open(root.resolve("lock"), CREATE, WRITE)
    def taken = try channel.tryLock() != null
    catch { case _: OverlappingFileLockException => false }
    val end = System.nanoTime + Patience * 1000000000L
    var mine = taken
    while (!mine && System.nanoTime < end) {
      Thread.sleep(100)
      mine = taken
    }
    if (mine) held = Some(channel) else channel.close()
    mine
  }

  def unlock(): Unit = {
    held.foreach(_.close())
    held = None
  }

  def read(): Seq[ContinuousTable] =
    if (!Files.exists(file)) Nil
    else {
      val told = mapper.readTree(file.toFile)
      val format = told.path("format").asInt
      if (format != Format)
        throw new IllegalStateException(
          s"$file is in format $format, and this version of Plait reads $Format: start the version that wrote it"
        )
      told.get("tables").asScala.map(new ContinuousTable(_)).toSeq
    }

  def write(known: Iterable[ContinuousTable]): Unit = {
    val told = mapper.createObjectNode().put("format", Format)
    val list = told.putArray("tables")
    known.foreach(table => list.add(table.root))
    Files.createDirectories(root)
    val fresh = root.resolve("tables.json.new")
    Using.resource(FileChannel.open(fresh, CREATE, WRITE, TRUNCATE_EXISTING)) { channel =>
      channel.write(java.nio.ByteBuffer.wrap(mapper.writeValueAsBytes(told)))
      channel.force(true)
    }
    if (!Files.exists(file)) setAside(known)
    Files.move(fresh, file, ATOMIC_MOVE, REPLACE_EXISTING)
    // The new name too is on the disk only when its folder is.
    Using.resource(FileChannel.open(root, READ))(_.force(true))
  }

  def rows(table: ContinuousTable): Path = tables.resolve(table.id).resolve("rows")

  /** Whether there was no folder of this table. */
  def makeRows(table: ContinuousTable): Boolean = {
    val isNew = !Files.exists(tables.resolve(table.id))
    Files.createDirectories(rows(table)): Unit
    isNew
  }

  /** Takes away what [[makeRows]] has made, unless something is in it. */
  def deleteEmpty(table: ContinuousTable): Unit =
    try Seq(rows(table), tables.resolve(table.id)).foreach(Files.deleteIfExists)
    catch { case _: DirectoryNotEmptyException => }

  def checkpoint(table: ContinuousTable): Path = tables.resolve(table.id).resolve("checkpoint")

  def delete(table: ContinuousTable): Unit = deleteAll(tables.resolve(table.id))

  /** Deletes what belongs to none of these. */
  def sweep(known: Iterable[ContinuousTable]): Unit = {
    val unknown = others(known)
    if (Files.exists(file)) unknown.foreach(deleteAll)
    else if (unknown.nonEmpty)
      logWarning(
        s"$tables has ${unknown.size} folders of continuous tables, and there is no $file that names them; nothing of " +
          "them is deleted. Stop the server and put the file back from a copy, or delete the folders."
      )
  }

  private def setAside(known: Iterable[ContinuousTable]): Unit = {
    val left = root.resolve("left")
    others(known).foreach { folder =>
      Files.createDirectories(left)
      Files.move(folder, left.resolve(folder.getFileName))
      logWarning(s"$folder belongs to no table that is known, and has been moved to $left.")
    }
  }

  /** Folders of other tables than these. */
  private def others(known: Iterable[ContinuousTable]): Seq[Path] =
    if (!Files.isDirectory(tables)) Nil
    else {
      val ids = known.map(_.id).toSet
      Using
        .resource(Files.list(tables))(_.iterator.asScala.toVector)
        .filterNot(folder => ids.contains(folder.getFileName.toString))
    }

  private def deleteAll(folder: Path): Unit =
    if (Files.exists(folder))
      Using.resource(Files.walk(folder)) {
        _.sorted(Comparator.reverseOrder[Path]).iterator.asScala.foreach(Files.deleteIfExists)
      }
}

object TableFolder {
  private val mapper = Json.mapper
  private val Format = 1

  /** Seconds. */
  private val Patience = 15
}
