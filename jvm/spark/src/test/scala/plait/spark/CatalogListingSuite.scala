// SPDX-License-Identifier: Apache-2.0
package plait.spark

import java.util.{Map => JavaMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.types.{DecimalType, LongType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Examples: the tables that a remote client is told of. Laws: patterns of names. */
class CatalogListingSuite extends SparkSuite {
  private val mapper = new ObjectMapper()

  private lazy val client: ClassicSession = spark.asInstanceOf[ClassicSession].newSession()

  override def beforeAll(): Unit = {
    client.conf.set("spark.sql.catalog.nested", classOf[NestedCatalog].getName)
    for (name <- Seq("b1", "a1", "a2", "c")) client.sql(s"CREATE TEMP VIEW $name AS SELECT 1 AS x")
    client.sql("CREATE DATABASE listed")
    client.sql("CREATE TABLE listed.a3 (x INT) USING parquet"): Unit
  }

  override def afterAll(): Unit = {
    client.sql("DROP DATABASE listed CASCADE")
    client.conf.unset("spark.sql.catalog.nested")
  }

  private def answer(fields: (String, Any)*): JsonNode = {
    val all = Map[String, Any](
      "catalog" -> "",
      "database" -> "",
      "pattern" -> "",
      "after" -> "",
      "limit" -> 100,
      "scopes" -> Seq("read").asJava,
      "operation" -> "listed"
    ) ++ fields
    mapper.readTree(PlaitRemote.catalog(client, mapper.writeValueAsString(all.asJava)))
  }

  private def pageOf(fields: (String, Any)*): JsonNode = {
    val told = answer(fields: _*)
    assert(told.has("answer"), told.toString)
    told.get("answer")
  }

  private def names(page: JsonNode): Seq[String] =
    page
      .get("tables")
      .asScala
      .map { t =>
        s"${t.get("database").asText}.${t.get("name").asText}"
      }
      .toSeq

  test("pages of any size hold each table once, in order, temporary views first") {
    val expected = Seq(".a1", ".a2", "listed.a3")
    for (limit <- 1 to 4) {
      val pages = Iterator
        .unfold(Option("")) { after =>
          after.map { token =>
            val page = pageOf("pattern" -> "a_", "limit" -> limit, "after" -> token)
            (page, Some(page.get("next").asText).filter(_.nonEmpty))
          }
        }
        .toSeq
      assertEquals(pages.flatMap(names), expected, s"limit $limit")
      assert(pages.forall(page => names(page).sizeIs <= limit))
    }
  }

  test("tables of another catalog are told with their columns, in all namespaces") {
    val page = pageOf("catalog" -> "nested")
    // Temporary views come with every catalog.
    assertEquals(names(page).filterNot(_.startsWith(".")), Seq("a.t", "a.b.broken", "a.b.u"))
    val u = page.get("tables").asScala.filter(_.get("name").asText == "u").head
    val columns = u.get("columns").asScala.map(c => c.get("name").asText -> c.get("type").asText)
    assertEquals(columns.toSeq, Seq("id" -> "BIGINT", "price" -> "DECIMAL(10,2)"))
    assertEquals(names(pageOf("catalog" -> "nested", "database" -> "a")), Seq("a.t"))
  }

  test("a table that cannot be read is listed without columns") {
    val page = pageOf("catalog" -> "nested", "pattern" -> "broken")
    assertEquals(page.get("tables").get(0).get("columns").size, 0)
  }

  test("one that is cancelled ends, though its catalog tells of an interrupt in its own words") {
    client.conf.set("spark.sql.catalog.slow", classOf[SlowCatalog].getName)
    SlowCatalog.reading.acquire() // so that it is seen to begin
    @volatile var told: JsonNode = null
    val thread = new Thread(() => told = answer("catalog" -> "slow"))
    thread.start()
    SlowCatalog.reading.acquire()
    PlaitRemote.cancelInquiry("listed")
    thread.join(20000)
    assertEquals(told.get("failure").get("condition").asText, "OPERATION_CANCELED")
  }

  test("without a scope nothing is told") {
    val failure = answer("scopes" -> Nil.asJava).get("failure")
    assertEquals(failure.get("condition").asText, "SCOPE_NOT_GRANTED")
  }

  test("a page that was never named is an error of the request") {
    val failure = answer("after" -> "*").get("failure")
    assertEquals(failure.get("kind").asText, "request")
  }

  test("% is any text, _ any character, both cases of a letter are the same") {
    val cases = Seq(
      ("", "", true),
      ("", "a", false),
      ("%", "", true),
      ("%", "anything", true),
      ("_", "", false),
      ("_", "é", true),
      ("ord%", "Orders", true),
      ("ord_", "orders", false),
      ("%rd%s", "orders", true),
      ("%rd%x", "orders", false),
      ("a%a", "a", false),
      ("a.c", "abc", false)
    )
    for ((pattern, name, expected) <- cases)
      assertEquals(NamePattern.matches(pattern, name), expected, s"'$name' LIKE '$pattern'")
  }

  test("patterns match as LIKE does, for all patterns and names of up to four letters") {
    def texts(letters: String, length: Int): Seq[String] =
      if (length == 0) Seq("") else texts(letters, length - 1).flatMap(t => letters.map(t + _))
    val names = (0 to 4).flatMap(texts("ab", _))
    for (pattern <- (0 to 4).flatMap(texts("ab%_", _)); name <- names) {
      val regex = pattern.replace("%", ".*").replace("_", ".")
      assertEquals(NamePattern.matches(pattern, name), name.matches(regex), s"$name LIKE $pattern")
    }
  }

  test("a hostile pattern takes no longer than its length times that of the name") {
    assert(!NamePattern.matches("%a" * 64 + "b", "a" * 255))
  }
}

/** Tables `a.t`, `a.b.u` and `a.b.broken`, which cannot be loaded. */
class NestedCatalog extends TableCatalog with SupportsNamespaces {
  private val tables = Map("a" -> Seq("t"), "a.b" -> Seq("u", "broken"))

  override def name: String = "nested"
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = ()

  override def listNamespaces: Array[Array[String]] = listNamespaces(Array.empty[String])
  override def listNamespaces(namespace: Array[String]): Array[Array[String]] =
    namespace match {
      case Array() => Array(Array("a"))
      case Array("a") => Array(Array("a", "b"))
      case _ => Array.empty
    }

  override def listTables(namespace: Array[String]): Array[Identifier] =
    tables.getOrElse(namespace.mkString("."), Nil).map(Identifier.of(namespace, _)).toArray

  override def loadTable(wanted: Identifier): Table =
    if (wanted.name == "broken") throw new NoSuchTableException(wanted)
    else
      new Table {
        override def name: String = wanted.name
        override def capabilities: java.util.Set[TableCapability] = java.util.Set.of()
        override def columns: Array[Column] =
          Array(Column.create("id", LongType), Column.create("price", DecimalType(10, 2)))
      }

  override def loadNamespaceMetadata(namespace: Array[String]): JavaMap[String, String] =
    throw new NoSuchNamespaceException(namespace)
  override def createNamespace(namespace: Array[String], metadata: JavaMap[String, String]): Unit =
    refuse()
  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit = refuse()
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean = refuse()
  override def alterTable(id: Identifier, changes: TableChange*): Table = refuse()
  override def dropTable(id: Identifier): Boolean = refuse()
  override def renameTable(old: Identifier, now: Identifier): Unit = refuse()

  private def refuse(): Nothing = throw new UnsupportedOperationException("for reading only")
}

/** Its tables take a minute each, to the first of which it says that it has begun. */
class SlowCatalog extends NestedCatalog {
  override def loadTable(wanted: Identifier): Table = {
    SlowCatalog.reading.release()
    try Thread.sleep(60000)
    catch {
      case interrupt: InterruptedException =>
        Thread.currentThread.interrupt()
        throw new IllegalStateException("the catalog does not answer", interrupt)
    }
    super.loadTable(wanted)
  }
}

object SlowCatalog {
  val reading = new java.util.concurrent.Semaphore(1)
}
