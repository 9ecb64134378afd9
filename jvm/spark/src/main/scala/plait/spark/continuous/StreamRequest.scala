// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import plait.spark.result.{Json, OperationRequest}

/** Where the rows of a stream go. */
sealed trait Sink {

  /** For people. */
  def described: String
}

object Sink {
  final case class Table(name: String) extends Sink {
    override def described: String = s"table $name"
  }

  final case class Files(format: String, path: String, options: Map[String, String]) extends Sink {
    override def described: String = s"$format $path"
  }

  case object Nowhere extends Sink {
    override def described: String = "nowhere"
  }
}

/** A stream to start: what [[plait.spark.result.OperationRequest]] has, and
  * {{{
  * {"name": "orders", "mode": "append", "checkpoint": "/data/c", "every": 500,
  *  "sink": {"kind": "files", "format": "parquet", "path": "/data/o", "options": {}}}
  * }}}
  *
  *   1. The kinds of sinks are `table` (with `table`), `files` and `nowhere`; `sink` is null where none is given.
  *   1. `every` is in milliseconds; null is all that is there now, and then the end.
  */
final class StreamRequest(root: JsonNode) {
  val statement = new OperationRequest(root)

  def name: String = root.get("name").asText
  def mode: String = root.get("mode").asText
  def checkpoint: Option[String] = Some(root.get("checkpoint").asText).filter(_.nonEmpty)
  def every: Option[Long] = Option(root.get("every")).filterNot(_.isNull).map(_.asLong)

  def trigger: Trigger = StreamRequest.trigger(every)

  def outputMode: OutputMode = StreamRequest.modes(mode)

  def sink: Option[Sink] = Option(root.get("sink")).filterNot(_.isNull).map { node =>
    node.get("kind").asText match {
      case "table" => Sink.Table(node.get("table").asText)
      case "files" =>
        val options = node.get("options").properties.asScala.map(e => e.getKey -> e.getValue.asText)
        Sink.Files(node.get("format").asText, node.get("path").asText, options.toMap)
      case "nowhere" => Sink.Nowhere
    }
  }
}

object StreamRequest {
  private val mapper = Json.mapper

  def parse(json: String): StreamRequest = new StreamRequest(mapper.readTree(json))

  def trigger(every: Option[Long]): Trigger =
    every.fold[Trigger](Trigger.AvailableNow())(Trigger.ProcessingTime(_))

  private val modes = Map(
    "append" -> OutputMode.Append(),
    "update" -> OutputMode.Update(),
    "complete" -> OutputMode.Complete()
  )
}
