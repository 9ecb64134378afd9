// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.util.Base64

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTableType
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{
  Column,
  Identifier,
  SupportsNamespaces,
  Table,
  TableCatalog
}
import org.apache.spark.sql.types.{StructField, StructType}

import plait.spark.guard.{Scope, StatementRefused}
import plait.spark.result.{Json, OperationFailed}

/** Which tables are asked for; in JSON:
  * {{{
  * {"catalog": "", "database": "sales", "pattern": "ord%", "after": "", "limit": 100, "scopes": ["read"],
  *  "operation": "0c9..."}
  * }}}
  *
  *   1. An empty catalog is the session's current one; an empty database is each of them.
  *   1. `after` is empty or the `next` of the page before.
  */
final private[spark] class CatalogRequest(root: JsonNode) {
  def catalog: Option[String] = text("catalog")
  def database: Option[String] = text("database")
  def pattern: Option[String] = text("pattern")
  def after: Option[String] = text("after")
  def operation: String = root.get("operation").asText
  def limit: Int = root.get("limit").asInt
  def scopes: Seq[String] = root.get("scopes").asScala.map(_.asText).toSeq

  private def text(name: String): Option[String] = Some(root.get(name).asText).filter(_.nonEmpty)
}

/** The tables and views that a session can name, with their columns, a page at a time:
  * {{{
  * {"tables": [{"catalog": "spark_catalog", "database": "sales", "name": "orders", "kind": "table", "comment": "",
  *              "columns": [{"name": "id", "type": "BIGINT", "nullable": true, "comment": ""}]}],
  *  "next": "..."}
  * }}}
  *
  *   1. In the order of catalog, database and name; the session's own temporary views, which are in no
  *      database, come first.
  *   1. `kind` is `table`, `view` or `temporary` (a view of the session, or a global one).
  *   1. A table that cannot be read is listed without columns.
  *   1. Only what the catalog holds is read, no table's files.
  *   1. A table that comes or goes between two pages is in the list or is not; every other is in it once.
  */
final private[spark] class CatalogListing(session: SparkSession) {
  import CatalogListing._

  private val views = session.sessionState.catalog
  private val manager = session.sessionState.catalogManager

  def page(request: CatalogRequest): JsonNode = session.withActive {
    if (Scope.named(request.scopes).isEmpty)
      throw new OperationFailed("refused", StatementRefused.MissingScope, NoScope, None)
    val after = request.after.map(decoded).getOrElse("")
    val found = entries(request).filter(_.key > after).sortBy(_.key)
    val root = mapper.createObjectNode()
    val tables = root.putArray("tables")
    found.take(request.limit).foreach { entry =>
      // What keeps a table from being read is not told of, an interrupt of that neither.
      if (Thread.currentThread.isInterrupted) throw new InterruptedException
      write(entry, tables.addObject())
    }
    val more = found.sizeIs > request.limit
    root.put("next", if (more) encoded(found(request.limit - 1).key) else "")
    root
  }

  private def entries(request: CatalogRequest): Seq[Entry] = {
    val catalog = request.catalog.getOrElse(manager.currentCatalog.name)
    val all =
      if (catalog == SparkCatalog) ofSession(catalog, request.database)
      else ofCatalog(catalog, request.database)
    val own = if (request.database.isEmpty) temporary else Nil
    (own ++ all).filter(e => request.pattern.forall(NamePattern.matches(_, e.name)))
  }

  private def temporary: Seq[Entry] =
    views.listLocalTempViews("*").map(id => Entry("", "", id.table, () => metadata(id)))

  private def ofSession(catalog: String, database: Option[String]): Seq[Entry] =
    for {
      name <- database.fold(views.listDatabases() :+ views.globalTempDatabase)(Seq(_))
      id <- views.listTables(name, "*", false)
    } yield Entry(catalog, name, id.table, () => metadata(id))

  private def metadata(id: TableIdentifier): Described = {
    val table = views.getTempViewOrPermanentTableMetadata(id)
    val isTemporary = id.database.forall(_ == views.globalTempDatabase)
    val kind =
      if (isTemporary) "temporary"
      else if (table.tableType == CatalogTableType.VIEW) "view"
      else "table"
    Described(kind, table.comment.getOrElse(""), table.schema)
  }

  private def ofCatalog(name: String, database: Option[String]): Seq[Entry] =
    manager.catalog(name) match {
      case tables: TableCatalog =>
        for {
          namespace <- namespaces(tables) if database.forall(_ == namespace.mkString("."))
          id <- tables.listTables(namespace).toSeq
        } yield Entry(name, namespace.mkString("."), id.name, () => loaded(tables, id))
      case _ => Nil
    }

  private def namespaces(catalog: TableCatalog): Seq[Array[String]] = catalog match {
    case nested: SupportsNamespaces =>
      def below(space: Array[String]): Seq[Array[String]] =
        nested.listNamespaces(space).toSeq.flatMap(found => found +: below(found))
      below(Array.empty)
    case _ => Seq(Array.empty[String])
  }

  private def loaded(catalog: TableCatalog, id: Identifier): Described = {
    val table: Table = catalog.loadTable(id)
    val comment = Option(table.properties.get(TableCatalog.PROP_COMMENT)).getOrElse("")
    Described("table", comment, StructType(table.columns.map(toField)))
  }
}

private[spark] object CatalogListing {
  private val mapper = Json.mapper
  private val SparkCatalog = "spark_catalog"
  private val NoScope = "The token allows nothing. Ask the server's operator for the scope read."

  /** A table before it is looked into. */
  final private case class Entry(
      catalog: String,
      database: String,
      name: String,
      described: () => Described
  ) {
    def key: String = s"$catalog\u0000$database\u0000$name"
  }

  final private case class Described(kind: String, comment: String, schema: StructType)

  private def write(entry: Entry, node: ObjectNode): Unit = {
    val found =
      try entry.described()
      catch { case NonFatal(_) => Described("table", "", new StructType) }
    node.put("catalog", entry.catalog).put("database", entry.database).put("name", entry.name)
    node.put("kind", found.kind).put("comment", found.comment)
    val columns = node.putArray("columns")
    found.schema.foreach { field =>
      val kind = CharVarcharUtils.getRawType(field.metadata).getOrElse(field.dataType)
      val comment = field.getComment().getOrElse("")
      columns
        .addObject()
        .put("name", field.name)
        .put("type", kind.sql)
        .put("nullable", field.nullable)
        .put("comment", comment)
    }
  }

  private def toField(column: Column): StructField = {
    val field = StructField(column.name, column.dataType, column.nullable)
    Option(column.comment).fold(field)(field.withComment)
  }

  private def encoded(key: String): String =
    Base64.getUrlEncoder.encodeToString(key.getBytes("UTF-8"))

  private def decoded(token: String): String =
    try new String(Base64.getUrlDecoder.decode(token), "UTF-8")
    catch {
      case _: IllegalArgumentException =>
        val sentence = "The page is none that this server has named: begin with the first."
        throw new OperationFailed("request", "INVALID_REQUEST", sentence, None)
    }
}

/** A pattern of names, as in SQL's LIKE without an escape: `%` is any text, `_` any one character. Letters of both
  * cases are the same.
  *
  * {{{
  * matches("ord%", "Orders")    true
  * matches("ord_", "orders")    false
  * }}}
  */
private[spark] object NamePattern {
  def matches(pattern: String, name: String): Boolean = {
    val wanted = pattern.toLowerCase(java.util.Locale.ROOT)
    val start = wanted.scanLeft(true)((all, c) => all && c == '%')
    // Invariant: the place i tells whether the first i characters of the pattern match what has been read.
    name.toLowerCase(java.util.Locale.ROOT).foldLeft(start)(next(wanted, _, _)).last
  }

  private def next(pattern: String, before: Seq[Boolean], c: Char): IndexedSeq[Boolean] =
    pattern.indices.scanLeft(false) { (shorter, i) =>
      pattern(i) match {
        case '%' => shorter || before(i + 1)
        case '_' => before(i)
        case exact => exact == c && before(i)
      }
    }
}
