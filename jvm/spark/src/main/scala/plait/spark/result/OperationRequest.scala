// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.time._
import java.util.HexFormat

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

/** What is to be run, and within which limits; in JSON:
  * {{{
  * {"operation": "0c9...", "sql": "SELECT :x", "named": {"x": {"type": "date", "value": "2026-01-01"}}, "positional": [],
  *  "batchBytes": 1048576, "maxRows": 0, "maxBytes": 0, "stack": false,
  *  "scopes": ["read"], "folders": [], "confKeys": ["spark.sql.*"],
  *  "owner": "", "state": "/var/lib/plait", "streams": 16, "records": 100,
  *  "running": 8, "patience": 60000}
  * }}}
  *
  *   1. A value is `null` or has one of the types of [[OperationRequest.value]], as text.
  *   1. A limit of 0 is none.
  *   1. `owner` tells callers apart; `state`, `streams` and `records` are of streams: the server's folder for continuous
  *      tables, empty if it has none, how many streams a caller may have, and how many records of each are kept.
  *   1. How many operations run at a time, and for how many milliseconds one waits: see [[Operations]].
  */
final class OperationRequest(val root: JsonNode) {
  def operation: String = root.path("operation").asText
  def sql: String = root.get("sql").asText
  def batchBytes: Long = root.get("batchBytes").asLong
  def maxRows: Long = root.get("maxRows").asLong
  def maxBytes: Long = root.get("maxBytes").asLong
  def stack: StackTrace = if (root.get("stack").asBoolean) StackTrace.Sent else StackTrace.Kept

  def named: Map[String, Any] = root
    .get("named")
    .properties
    .asScala
    .map(entry => entry.getKey -> OperationRequest.value(entry.getValue))
    .toMap

  def positional: Seq[Any] = root.get("positional").asScala.map(OperationRequest.value).toSeq

  def scopes: Seq[String] = texts("scopes")
  def folders: Seq[String] = texts("folders")
  def confKeys: Seq[String] = texts("confKeys")
  def owner: String = root.get("owner").asText
  def state: Option[String] = Some(root.get("state").asText).filter(_.nonEmpty)
  def streams: Int = root.get("streams").asInt
  def records: Int = root.get("records").asInt
  def running: Int = root.path("running").asInt
  def patience: Long = root.path("patience").asLong

  /** Its text and the values of its parameters, as they came. */
  def written: JsonNode = {
    val node = OperationRequest.mapper.createObjectNode()
    Seq("sql", "named", "positional", "scopes").foreach(name =>
      node.set[JsonNode](name, root.get(name))
    )
    node
  }

  private def texts(name: String): Seq[String] = root.get(name).asScala.map(_.asText).toSeq
}

object OperationRequest {
  private val mapper = Json.mapper

  def parse(json: String): OperationRequest = new OperationRequest(mapper.readTree(json))

  /** A value as Spark's literals are made of; texts that are none of the type throw. */
  private[result] def value(node: JsonNode): Any =
    if (node.isNull) null
    else {
      val text = node.get("value").asText
      node.get("type").asText match {
        case "boolean" => text.toBoolean
        case "long" => text.toLong
        case "double" => text.toDouble
        case "decimal" => new java.math.BigDecimal(text)
        case "string" => text
        case "binary" => HexFormat.of.parseHex(text)
        case "date" => LocalDate.parse(text)
        case "timestamp" => Instant.parse(text)
        case "timestamp_ntz" => LocalDateTime.parse(text)
        case "interval" => Duration.parse(text)
      }
    }
}
