// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.util.Locale

import scala.collection.mutable.WeakHashMap

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streaming.StreamingQuery

/** A table by its whole name, as its catalog writes it. */
final case class TableName(catalog: String, namespace: Seq[String], name: String) {

  /** For people. */
  def dotted: String = (catalog +: namespace :+ name).mkString(".")

  def isOfSession: Boolean = catalog == TableName.SessionCatalog && namespace.sizeIs == 1

  def identifier: TableIdentifier = TableIdentifier(name, namespace.headOption, Some(catalog))

  /** For the stream that fills it; names of streams are plain. */
  def streamName: String =
    (namespace :+ name).mkString(".").replaceAll("[^A-Za-z0-9._-]", "_").take(128)

  /** In the same database, or in one of those in it? */
  def isBeside(other: TableName): Boolean =
    catalog == other.catalog && namespace.startsWith(other.namespace)

  def parts: Seq[String] = catalog +: namespace :+ name
}

object TableName {
  private val SessionCatalog = "spark_catalog"

  /** What a name means in a session. */
  def of(session: SparkSession, parts: Seq[String]): TableName = {
    import session.sessionState.analyzer.CatalogAndIdentifier
    val conf = session.sessionState.conf
    def written(part: String) =
      if (conf.caseSensitiveAnalysis) part else part.toLowerCase(Locale.ROOT)
    val CatalogAndIdentifier(catalog, identifier) = (parts: @unchecked)
    val namespace = identifier.namespace.toSeq
    if (catalog.name != SessionCatalog) TableName(catalog.name, namespace, identifier.name)
    else TableName(SessionCatalog, namespace.map(written), written(identifier.name))
  }
}

/** The tables that streams of this server fill. A session that has read such a table once would see the same
  * files again: its catalog keeps what it has found of a table.
  *
  * {{{
  * stream fills n     each statement of each session looks for the files of n
  * stream ends        each session looks for all files anew once, and n is a table as any other
  * }}}
  *
  * So what is known here grows with the streams that run, and not with those that ran.
  */
object FilledTables {
  final private class Filling(val name: TableIdentifier) {
    @volatile var query: Option[StreamingQuery] = None
    def isOver: Boolean = query.exists(!_.isActive)
  }

  private var all = Vector.empty[Filling]
  private var ended = 0L

  // What had ended when a session last looked; a session that is gone is forgotten.
  private val seen = new WeakHashMap[SparkSession, Long]

  /** Starts a query that fills a table, which is known here for as long as the query runs. */
  def filling(name: TableName)(start: => StreamingQuery): StreamingQuery =
    if (!name.isOfSession) start
    else {
      val filling = new Filling(name.identifier)
      synchronized(all :+= filling)
      try {
        val query = start
        filling.query = Some(query)
        query
      } catch {
        case error: Throwable =>
          synchronized { all = all.filterNot(_ eq filling) }
          throw error
      }
    }

  /** Makes a session look for the files of those tables when it reads them next. */
  def readAnew(session: SparkSession): Unit = {
    val catalog = session.sessionState.catalog
    val (filled, now, isBehind) = synchronized {
      val (over, running) = all.partition(_.isOver)
      ended += over.size
      all = running
      (running.map(_.name).distinct, ended, !seen.get(session).contains(ended))
    }
    if (isBehind) {
      catalog.invalidateAllCachedTables()
      // Not before: another statement of the session would take it for done.
      synchronized(seen.put(session, now)): Unit
    }
    filled.foreach(catalog.invalidateCachedTable)
  }

  /** How many are known. */
  private[continuous] def size: Int = synchronized(all.size)
}
