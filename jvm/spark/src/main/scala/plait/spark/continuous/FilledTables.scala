// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.util.Locale

import scala.collection.mutable

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.classic.SparkSession

/** A table by its whole name, as its catalog writes it. */
final case class TableName(catalog: String, namespace: Seq[String], name: String) {

  /** For people. */
  def dotted: String = (catalog +: namespace :+ name).mkString(".")

  def isOfSession: Boolean = catalog == TableName.SessionCatalog && namespace.sizeIs == 1

  def identifier: TableIdentifier = TableIdentifier(name, namespace.headOption, Some(catalog))

  /** For the stream that fills it; names of streams are plain. */
  def streamName: String =
    (namespace :+ name).mkString(".").replaceAll("[^A-Za-z0-9._-]", "_").take(128)

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

/** The tables that streams of this server have filled. A session that has read such a table once would see
  * the same files again: its catalog keeps what it has found of a table.
  */
object FilledTables {
  private val all = mutable.Set.empty[TableIdentifier]

  def add(name: TableName): Unit =
    if (name.isOfSession) synchronized(all += name.identifier): Unit

  /** Makes a session look for the files of those tables when it reads them next. */
  def readAnew(session: SparkSession): Unit = {
    val known = synchronized(all.toVector)
    known.foreach(session.sessionState.catalog.invalidateCachedTable)
  }
}
