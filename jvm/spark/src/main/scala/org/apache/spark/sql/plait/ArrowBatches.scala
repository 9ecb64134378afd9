// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import java.io.ByteArrayOutputStream
import java.nio.channels.Channels

import org.apache.arrow.vector.ipc.WriteChannel
import org.apache.arrow.vector.ipc.message.MessageSerializer
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.arrow.ArrowConverters.ArrowBatchIterator
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.ArrowUtils

/** So many rows as one Arrow record batch, an encapsulated IPC message. */
final case class ArrowBatch(rows: Long, message: Array[Byte])

/** The shape of a result in Arrow: its columns, and the zone that its timestamps are shown in. */
final case class ArrowShape(schema: StructType, zone: String, batchBytes: Long) {

  /** The schema as an encapsulated IPC message; columns of one name are allowed, as joins give them. */
  def schemaMessage: Array[Byte] = {
    val out = new ByteArrayOutputStream
    val arrow = ArrowUtils.toArrowSchema(schema, zone, false, false)
    MessageSerializer.serialize(new WriteChannel(Channels.newChannel(out)), arrow)
    out.toByteArray
  }

  def batches(rows: Iterator[InternalRow]): Iterator[ArrowBatch] = {
    val made = new ArrowBatches(rows, this)
    new Iterator[ArrowBatch] {
      override def hasNext: Boolean = made.hasNext
      override def next(): ArrowBatch = made.nextBatch()
    }
  }
}

/** Rows as Arrow batches, each ended by the row with which it reaches `batchBytes`, by the size that rows
  * have in Spark: with batches of 1 MiB and rows of 1 kB, 1,049 rows in each. A row is never cut.
  *
  * It stands in this package because Spark's own converter does not show outside of it; its memory
  * is freed at the end of the rows, or of the task.
  */
final private class ArrowBatches(rows: Iterator[InternalRow], shape: ArrowShape)
    extends ArrowBatchIterator(
      rows,
      shape.schema,
      0,
      shape.zone,
      false,
      false,
      TaskContext.get()
    ) {

  def nextBatch(): ArrowBatch = {
    var count = 0L
    var bytes = 0L
    try {
      // Invariant: the writer holds `count` rows, of `bytes` bytes, fewer than make a batch.
      while (bytes < shape.batchBytes && rows.hasNext) {
        val row = rows.next()
        arrowWriter.write(row)
        bytes += ArrowBatches.sizeOf(row)
        count += 1
      }
      arrowWriter.finish()
      ArrowBatch(count, message())
    } finally arrowWriter.reset()
  }

  private def message(): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val batch = unloader.getRecordBatch
    try MessageSerializer.serialize(new WriteChannel(Channels.newChannel(out)), batch)
    finally batch.close()
    out.toByteArray
  }
}

private object ArrowBatches {

  /** What a field of a row in another form is taken for. */
  private val BytesOfField = 16L

  private def sizeOf(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes.toLong
    case other => BytesOfField * math.max(1, other.numFields)
  }
}
