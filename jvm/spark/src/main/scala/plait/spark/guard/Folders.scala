// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.io.IOException
import java.net.{URI, URISyntaxException}
import java.nio.file.LinkOption.NOFOLLOW_LINKS
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/** Which paths lie in the folders of a grant.
  *
  * {{{
  * folders   /data/open
  * opens     /data/open/a.csv   file:///data/open/2024   /data/open/x/../a.csv
  * not       /data/opened   /data/open/../secret   /data/open/link (to /etc)   s3a://b/data/open   a.csv
  * }}}
  *
  *   1. A path is read as Hadoop reads it. A relative one is in no folder, for it depends on where the
  *      server was started.
  *   1. Local paths are compared with all links followed, as far as they exist. A folder is opened only if no
  *      link in it leads out of the grant's folders; a pattern, only if all that it matches is.
  *   1. Paths of other file systems are compared by scheme, authority and path, without `..`.
  *   1. Links that are made after the check are not seen: whoever can make links in an opened folder is trusted.
  */
final private[guard] class Folders(folders: Seq[String], hadoop: => Configuration) {
  private lazy val opened: Seq[URI] = folders.flatMap(place)

  def opens(path: String): Boolean = place(path).exists { uri =>
    if (isPattern(path)) isInside(beforePattern(uri)) && matches(path).forall(opensPlace)
    else opensPlace(uri)
  }

  private def opensPlace(uri: URI): Boolean =
    isInside(uri) && (!isLocal(uri) || linksOf(Paths.get(uri.getPath)).forall(isInside))

  private def isInside(uri: URI): Boolean = opened.exists { folder =>
    folder.getScheme == uri.getScheme && folder.getAuthority == uri.getAuthority &&
    (uri.getPath == folder.getPath || uri.getPath.startsWith(folder.getPath.stripSuffix("/") + "/"))
  }

  /** The one name of a place: absolute, with a scheme in lower case, links followed. */
  private def place(text: String): Option[URI] =
    try {
      val path = new Path(text)
      val uri = path.toUri
      val base = FileSystem.getDefaultUri(hadoop)
      val scheme = Option(uri.getScheme).getOrElse(base.getScheme).toLowerCase(Locale.ROOT)
      val authority = if (uri.getScheme == null) base.getAuthority else uri.getAuthority
      Option.when(path.isUriPathAbsolute && !uri.getPath.split('/').contains("..")) {
        if (scheme == "file") local(Paths.get(uri.getPath))
        else new URI(scheme, authority, uri.getPath, null, null)
      }
    } catch {
      case _: IllegalArgumentException | _: IOException | _: URISyntaxException => None
    }

  private def local(path: LocalPath): URI =
    new URI("file", null, followed(path).toString, null, null)

  /** With the links of what exists followed. */
  private def followed(path: LocalPath): LocalPath =
    if (Files.exists(path, NOFOLLOW_LINKS)) path.toRealPath()
    else Option(path.getParent).fold(path)(parent => followed(parent).resolve(path.getFileName))

  /** Where the links below a folder lead. */
  private def linksOf(path: LocalPath): Seq[URI] =
    if (!Files.isDirectory(path)) Nil
    else
      Using.resource(Files.walk(path)) {
        _.iterator.asScala.filter(Files.isSymbolicLink(_)).map(local).toVector
      }

  private def isLocal(uri: URI): Boolean = uri.getScheme == "file"
  private def isPattern(path: String): Boolean = path.exists(Folders.PatternLetters.contains(_))

  /** What stands before the first step that is a pattern. */
  private def beforePattern(uri: URI): URI = {
    val steps = uri.getPath.split('/').filter(_.nonEmpty).takeWhile(!isPattern(_))
    new URI(uri.getScheme, uri.getAuthority, steps.mkString("/", "/", ""), null, null)
  }

  private def matches(pattern: String): Seq[URI] = {
    val path = new Path(pattern)
    Option(path.getFileSystem(hadoop).globStatus(path)).toSeq.flatten
      .flatMap(found => place(found.getPath.toString))
  }
}

private object Folders {
  private val PatternLetters = "{}[]*?\\"
}
