// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.classic.SparkSession

import plait.spark.result.Json

/** What is kept of a table that a streaming query fills, so that the query can be started again:
  * {{{
  * {"id": "0c9...", "name": ["spark_catalog", "default", "n"], "owner": "9f86...", "stream": "default.n", "every": 0,
  *  "catalog": "spark_catalog", "namespace": ["default"], "settings": {"spark.sql.session.timeZone": "UTC"},
  *  "statement": {"sql": "CREATE STREAMING TABLE n AS ...", "named": {}, "positional": [], "scopes": ["stream"]}}
  * }}}
  *
  *   1. `id` names the folder of its rows and its checkpoint.
  *   1. `catalog`, `namespace` and `settings` are those of the session that made it, as far as they are its own:
  *      they say what the statement means.
  */
final class ContinuousTable(val root: JsonNode) {
  def id: String = text("id")
  def name: TableName = {
    val parts = texts("name")
    TableName(parts.head, parts.tail.init, parts.last)
  }

  /** For people, and to tell tables apart. */
  def table: String = name.dotted
  def owner: String = text("owner")
  def stream: String = text("stream")
  def every: Long = root.get("every").asLong
  private def sql: String = root.get("statement").get("sql").asText

  def title: StreamTitle =
    StreamTitle(owner, stream, sql, s"table $table", "append", Some(table))

  /** The statement, within what the server allows now.
    *
    * @param like
    *   a request of now
    */
  def statement(like: JsonNode): JsonNode = {
    val node = like.deepCopy[ObjectNode]()
    node.setAll[JsonNode](root.get("statement").asInstanceOf[ObjectNode])
    node.put("owner", owner)
  }

  /** A session that reads the statement as the one did that made the table. */
  def session(like: SparkSession): SparkSession = {
    val own = like.newSession()
    root.get("settings").properties.asScala.foreach { entry =>
      own.sessionState.conf.setConfString(entry.getKey, entry.getValue.asText)
    }
    val manager = own.sessionState.catalogManager
    manager.setCurrentCatalog(text("catalog"))
    manager.setCurrentNamespace(texts("namespace").toArray)
    own
  }

  private def text(name: String): String = root.get(name).asText
  private def texts(name: String): Seq[String] = root.get(name).asScala.map(_.asText).toSeq
}

object ContinuousTable {
  private val mapper = Json.mapper

  /** @param statement
    *   as [[plait.spark.result.OperationRequest.written]] gives it
    */
  def made(
      session: SparkSession,
      name: TableName,
      owner: String,
      stream: String,
      every: Long,
      statement: JsonNode
  ): ContinuousTable = {
    val manager = session.sessionState.catalogManager
    val root = mapper.createObjectNode()
    root.put("id", java.util.UUID.randomUUID.toString)
    root.put("owner", owner).put("stream", stream).put("every", every)
    val parts = root.putArray("name")
    name.parts.foreach(parts.add)
    root.put("catalog", manager.currentCatalog.name)
    val namespace = root.putArray("namespace")
    manager.currentNamespace.foreach(namespace.add)
    val settings = root.putObject("settings")
    settingsOf(session).foreach { case (key, value) => settings.put(key, value) }
    root.set[JsonNode]("statement", statement)
    new ContinuousTable(root)
  }

  /** What a client has set in its session. */
  private def settingsOf(session: SparkSession): Seq[(String, String)] = {
    val fresh = session.newSession().sessionState.conf.getAllConfs
    session.sessionState.conf.getAllConfs
      .filterNot { case (key, value) =>
        OfTheServer.contains(key) || fresh.get(key).contains(value)
      }
      .toSeq
      .sorted
  }

  /** What the server sets in every session. */
  private val OfTheServer = Set(StreamStart.StopOther, "spark.sql.variable.substitute")
}
