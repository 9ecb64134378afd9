// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.io.IOException
import java.net.URI
import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{GlobExpander, Path}

/** Which paths lie in the folders of a grant.
  *
  * {{{
  * folders   /data/open
  * opens     /data/open/a.csv   file:///data/open/2024   /data/open/x/../a.csv
  * not       /data/opened   /data/open/../secret   /data/open/link (to /etc)   s3a://b/data/open   a.csv
  *           /data/open/{../secret,a}.csv
  * }}}
  *
  *   1. A path is read as Hadoop reads it. A relative one is in no folder, for it depends on where the
  *      server was started.
  *   1. Local paths are compared with all links followed, as far as they exist. A folder is opened only if no
  *      link in it leads out of the grant's folders; a pattern, only if all that it matches is.
  *   1. A pattern does not climb: neither it nor what its braces stand for has a step `..`, and it has no
  *      backslash, which would hide one. What it matches later lies behind its beginning too.
  *   1. Paths of other file systems are compared by scheme, authority and path, without `..`.
  *   1. Links that are made after the check are not seen: whoever can make links in an opened folder is trusted.
  *   1. An interrupt ends the look for links in a large folder.
  */
final private[guard] class Folders(folders: Seq[String], hadoop: => Configuration) {
  private val places = new Places(hadoop)
  private lazy val opened: Seq[Place] = folders.flatMap(places.of)

  def opens(path: String): Boolean = places.of(path).exists { place =>
    if (Folders.isPattern(path))
      !climbs(path) && isInside(Folders.beforePattern(place)) &&
      matches(path).forall(_.exists(opensPlace))
    else opensPlace(place)
  }

  /** The folders that an opened path lies in, from the nearest one up to below the grant's own. */
  def around(path: String): Seq[Place] = places.of(path).toSeq.flatMap { place =>
    Iterator
      .unfold(place)(_.parent.map(above => (above, above)))
      .takeWhile(above => isInside(above) && !opened.contains(above))
  }

  private def opensPlace(place: Place): Boolean =
    isInside(place) && (!place.isLocal || linksOf(Paths.get(place.uri.getPath)).forall(isInside))

  private def isInside(place: Place): Boolean = opened.exists(place.isIn)

  /** Where the links below a folder lead. */
  private def linksOf(path: LocalPath): Seq[Place] =
    if (!Files.isDirectory(path)) Nil
    else
      Using.resource(Files.walk(path)) {
        _.iterator.asScala.filter(isLink).map(places.local).toVector
      }

  private def isLink(path: LocalPath): Boolean = {
    // Java's walk does not hear of it.
    if (Thread.interrupted()) throw new InterruptedException
    Files.isSymbolicLink(path)
  }

  private def climbs(pattern: String): Boolean =
    pattern.contains('\\') || expanded(new Path(pattern).toUri.getPath).forall { paths =>
      (pattern +: paths).exists(_.split("[/{},]").contains(".."))
    }

  /** As Hadoop resolves braces with more than one step in them; nothing where it could not. */
  private def expanded(pattern: String): Option[Seq[String]] =
    try Some(GlobExpander.expand(pattern).asScala.toSeq)
    catch { case _: IOException => None }

  /** Nothing for one that has no place. */
  private def matches(pattern: String): Seq[Option[Place]] = {
    val path = new Path(pattern)
    Option(path.getFileSystem(hadoop).globStatus(path)).toSeq.flatten
      .map(found => places.of(found.getPath.toString))
  }
}

private[guard] object Folders {
  private val PatternLetters = "{}[]*?\\"

  def isPattern(path: String): Boolean = path.exists(PatternLetters.contains(_))

  /** What stands before the first step that is a pattern. */
  def beforePattern(place: Place): Place = {
    val uri = place.uri
    val steps = uri.getPath.split('/').filter(_.nonEmpty).takeWhile(!isPattern(_))
    Place(new URI(uri.getScheme, uri.getAuthority, steps.mkString("/", "/", ""), null, null))
  }
}
