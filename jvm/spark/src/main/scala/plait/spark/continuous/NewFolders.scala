// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/** Folders that the start of a stream makes, which go again if it does not start.
  *
  * {{{
  * /data            was there
  * /data/a/b        made for a stream that is refused: b goes, then a
  * }}}
  *
  *   1. One that was there stays, and so does one that has anything in it.
  */
final private[continuous] class NewFolders(folders: Seq[Path], conf: Configuration) {
  private val absent = folders.flatMap(missing).distinct.sortBy(-_.depth)

  def unless[A](start: => A): A =
    try start
    catch {
      case error: Throwable =>
        // Not to be deleted is what one with files in it says by an error.
        Shielded(absent.foreach(folder => Try(filesOf(folder).delete(folder, false))))
        throw error
    }

  private def missing(folder: Path): Seq[Path] =
    Iterator.iterate(folder)(_.getParent).takeWhile(p => p != null && isMissing(p)).toSeq

  /** Where it may not be asked, it is not ours to delete either. */
  private def isMissing(path: Path): Boolean = Try(!filesOf(path).exists(path)).getOrElse(false)

  private def filesOf(path: Path): FileSystem = path.getFileSystem(conf)
}
