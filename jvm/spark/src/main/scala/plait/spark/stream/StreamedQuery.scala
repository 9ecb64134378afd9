// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import java.util.UUID

import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata
import org.apache.spark.sql.execution.streaming.runtime.{IncrementalExecution, WatermarkPropagator}
import org.apache.spark.sql.streaming.OutputMode

/** A query over streams as a micro-batch of it is planned, before it has been started: as Spark does for
  * EXPLAIN of a DataFrame, for no sink and no checkpoint. Any other query is itself.
  */
object StreamedQuery {
  private val NoCheckpoint = "<unknown>"

  def of(query: QueryExecution): QueryExecution = query match {
    case batch: IncrementalExecution => batch
    case other if other.analyzed.isStreaming =>
      new IncrementalExecution(
        other.sparkSession,
        other.analyzed,
        OutputMode.Append,
        NoCheckpoint,
        UUID.randomUUID,
        UUID.randomUUID,
        0,
        None,
        OffsetSeqMetadata(0, 0),
        WatermarkPropagator.noop(),
        false
      )
    case other => other
  }
}
