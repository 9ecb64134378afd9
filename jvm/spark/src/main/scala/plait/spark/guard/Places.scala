// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.io.IOException
import java.net.{URI, URISyntaxException}
import java.nio.file.LinkOption.NOFOLLOW_LINKS
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.Locale

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/** Where something lies: a file system, and an absolute path in it without `..`.
  *
  * {{{
  * /data/t/day=1   is in   /data/t   and in   /data   but not in   /data/t2
  * }}}
  */
final private[guard] case class Place(uri: URI) {

  /** Is it this folder, or below it? */
  def isIn(folder: Place): Boolean =
    folder.uri.getScheme == uri.getScheme && folder.uri.getAuthority == uri.getAuthority &&
      (uri.getPath == folder.uri.getPath ||
        uri.getPath.startsWith(folder.uri.getPath.stripSuffix("/") + "/"))

  def path: Path = new Path(uri)
  def name: String = path.getName
  def parent: Option[Place] = Option(path.getParent).map(above => Place(above.toUri))
  def isLocal: Boolean = uri.getScheme == "file"
  override def toString: String = path.toString
}

/** The one name of each place: absolute, with a scheme in lower case, and on the local file system with all links
  * followed, as far as they exist. A path is read as Hadoop reads it; a relative one has no place.
  */
final private[guard] class Places(hadoop: => Configuration) {

  def of(text: String): Option[Place] =
    try {
      val path = new Path(text)
      val uri = path.toUri
      val base = FileSystem.getDefaultUri(hadoop)
      val scheme = Option(uri.getScheme).getOrElse(base.getScheme).toLowerCase(Locale.ROOT)
      val authority = if (uri.getScheme == null) base.getAuthority else uri.getAuthority
      Option.when(path.isUriPathAbsolute && !uri.getPath.split('/').contains("..")) {
        if (scheme == "file") local(Paths.get(uri.getPath))
        else Place(new URI(scheme, authority, uri.getPath, null, null))
      }
    } catch {
      case _: IllegalArgumentException | _: IOException | _: URISyntaxException => None
    }

  def local(path: LocalPath): Place =
    Place(new URI("file", null, followed(path).toString, null, null))

  private def followed(path: LocalPath): LocalPath =
    if (Files.exists(path, NOFOLLOW_LINKS)) path.toRealPath()
    else Option(path.getParent).fold(path)(parent => followed(parent).resolve(path.getFileName))
}
