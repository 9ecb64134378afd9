// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path, RemoteIterator}
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession

/** Whose data a folder is among, so that a stream that writes into it would put rows, or notes of its own, before
  * the eyes of those who read that data.
  *
  * {{{
  * /data/open/t              the table t lies there
  * /data/open                the table t lies in it
  * /data/open/t/new          it lies in the table t
  * /data/open/logs/day=1     whoever reads /data/open/logs takes it for a partition
  * /data/open/logs/new       it lies among the files of /data/open/logs
  * /data/open/out/_notes     nobody's: readers of /data/open/out pass it over
  * /data/open/new            nobody's
  * }}}
  *
  *   1. Tables are those of the session's catalog, by the folder of the whole table; they are listed once. A
  *      location that is a pattern counts from where the pattern begins.
  *   1. The folders that the grant names are not looked at for files: they are the operator's choice.
  */
final private[guard] class FolderUse(
    session: SparkSession,
    folders: Folders,
    hadoop: => Configuration
) {
  private val places = new Places(hadoop)

  /** In words that follow the folder's name. */
  def byTables(path: String): Option[String] = places.of(path).flatMap { place =>
    tables.collectFirst {
      case (name, table) if place.isIn(table) => s"which belongs to the table $name"
      case (name, table) if table.isIn(place) => s"in which the table $name lies"
    }
  }

  def byNeighbours(path: String): Option[String] = places.of(path).flatMap { place =>
    val above = folders.around(path)
    val partition = (place +: above).find(_.name.contains('='))
    partition
      .map(part => s"which readers of ${part.parent.getOrElse(part)} take for a partition")
      .orElse {
        // Each with the next step on the way down.
        above.zip(place +: above).collectFirst {
          case (folder, step) if !isHidden(step.name) && visible(folder.path).exists(_.isFile) =>
            s"which lies among the files of $folder"
        }
      }
  }

  /** Has it anything that readers see? */
  def hasData(folder: Path): Boolean = visible(folder).nonEmpty

  def isEmpty(folder: Path): Boolean = listed(folder).isEmpty

  def has(folder: Path, names: String*): Boolean =
    names.exists(name => filesOf(folder).exists(new Path(folder, name)))

  private lazy val tables: Seq[(String, Place)] = for {
    database <- session.sessionState.catalog.listDatabases()
    table <- tablesOf(database)
    location <- table.storage.locationUri
    place <- places.of(new Path(location).toString)
  } yield (table.identifier.unquotedString, Folders.beforePattern(place))

  private def tablesOf(database: String): Seq[CatalogTable] = {
    val catalog = session.sessionState.catalog
    try catalog.getTablesByName(catalog.listTables(database, "*", includeLocalTempViews = false))
    catch { case _: NoSuchNamespaceException => Nil } // dropped meanwhile
  }

  private def visible(folder: Path): Iterator[FileStatus] =
    listed(folder).filterNot(found => isHidden(found.getPath.getName))

  /** As Spark's readers of files have it. */
  private def isHidden(name: String): Boolean =
    name.startsWith(".") || (name.startsWith("_") && !name.contains('='))

  private def listed(folder: Path): Iterator[FileStatus] =
    try iterator(filesOf(folder).listStatusIterator(folder))
    catch { case _: FileNotFoundException => Iterator.empty }

  private def iterator(found: RemoteIterator[FileStatus]): Iterator[FileStatus] =
    Iterator.continually(found).takeWhile(_.hasNext).map(_.next())

  private def filesOf(path: Path): FileSystem = path.getFileSystem(hadoop)
}
