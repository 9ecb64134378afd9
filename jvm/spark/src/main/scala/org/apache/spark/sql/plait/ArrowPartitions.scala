// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.executor.DataReadMethod
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.{BlockId, RDDBlockId, StorageLevel}
import org.apache.spark.{SimpleFutureAction, SparkEnv, SparkException, TaskContext}

/** What the task of one partition gave: its first batches, and where the rest lies.
  *
  * A task hands the driver batches up to its share of bytes; what is left of its rows goes, batch by
  * batch, into blocks on the disk of its executor, from where the driver takes them one by one: with
  * batches of 1 MiB, a partition of 100 MiB and a share of 32 MiB, four of 16 MiB and one of 4 MiB. So neither
  * holds a partition, however large, in memory; of another host's block the driver holds all of it.
  */
final case class PartitionBatches(first: Array[ArrowBatch], rest: Seq[BlockId]) {

  def bytes: Long = first.map(_.message.length.toLong).sum

  /** Hands each batch to `write`, and removes each block once it is read. */
  def foreach(write: ArrowBatch => Unit): Unit = {
    first.foreach(write)
    rest.foreach { block =>
      try PartitionBatches.read(block, write)
      finally SparkEnv.get.blockManager.master.removeBlock(block)
    }
  }
}

object PartitionBatches {

  private def read(block: BlockId, write: ArrowBatch => Unit): Unit = {
    val manager = SparkEnv.get.blockManager
    val found = manager.get[ArrowBatch](block).getOrElse {
      throw new SparkException(s"The executor that held a part of the result is gone ($block).")
    }
    val batches = found.data.asInstanceOf[Iterator[ArrowBatch]]
    var ended = false
    try {
      batches.foreach(write)
      ended = true
    } finally
      // Read to its end a block has unlocked itself; one that came over the network has no lock.
      if (!ended && found.readMethod == DataReadMethod.Disk) manager.releaseLock(block)
  }
}

/** The partitions of a result, to be run in jobs that give [[PartitionBatches]].
  *
  * It stands in this package because Spark's block manager does not show outside of it.
  */
final class ArrowPartitions(result: RDD[InternalRow], shape: ArrowShape) {

  /** An RDD of its own: its number, which nobody else uses, is in the names of the blocks. */
  private val rows = result.mapPartitions(identity)

  def count: Int = rows.getNumPartitions

  def parallelism: Int = rows.sparkContext.defaultParallelism

  /** Starts a job over some partitions; `arrived` gets the place in `range` and what its task gave. */
  def submit(range: Range, share: Long)(
      arrived: (Int, PartitionBatches) => Unit
  ): SimpleFutureAction[Unit] = rows.sparkContext.submitJob[InternalRow, PartitionBatches, Unit](
    rows,
    ArrowPartitions.collect(shape, rows.id, share),
    range,
    (index, batches) => arrived(index, batches),
    ()
  )

  /** Removes what tasks have left on disks; to be called when no job of this result runs any more. */
  def dropAll(): Unit = SparkEnv.get.blockManager.master.removeRdd(rows.id, false)
}

object ArrowPartitions {

  private def collect(
      shape: ArrowShape,
      number: Int,
      share: Long
  ): Iterator[InternalRow] => PartitionBatches = { rows =>
    val batches = shape.batches(rows)
    val first = Array.newBuilder[ArrowBatch]
    var held = 0L
    // Invariant: `first` holds all batches made so far, `held` bytes.
    while (held < share && batches.hasNext) {
      val batch = batches.next()
      first += batch
      held += batch.message.length
    }
    PartitionBatches(first.result(), put(batches, number))
  }

  private def put(batches: Iterator[ArrowBatch], number: Int): Seq[BlockId] = {
    val blocks = Seq.newBuilder[BlockId]
    var piece = 0
    // Invariant: the batches so far lie in `piece` blocks.
    while (batches.hasNext) {
      val bytes = if (piece < LastPiece) BlockBytes else Long.MaxValue
      blocks += put(new UpTo(bytes, batches), blockOf(number, piece))
      piece += 1
    }
    blocks.result()
  }

  private def put(batches: Iterator[ArrowBatch], block: BlockId): BlockId = {
    val manager = SparkEnv.get.blockManager
    TaskContext.get().addTaskFailureListener((_, _) => manager.removeBlock(block))
    if (!manager.putIterator(block, batches, StorageLevel.DISK_ONLY, tellMaster = true))
      throw new SparkException(s"A part of the result could not be written to disk ($block).")
    block
  }

  /** By attempt, not by partition: two attempts may see the rows in another order. */
  private def blockOf(number: Int, piece: Int): BlockId = {
    val attempt = TaskContext.get().taskAttemptId() % (Int.MaxValue / (LastPiece + 1))
    RDDBlockId(number, attempt.toInt * (LastPiece + 1) + piece)
  }

  /** Bytes of a block, nearly: it ends with the batch that fills it. */
  private val BlockBytes = 16L << 20

  /** Of the blocks of one task; 64 GiB come before it, and it takes all else. */
  private val LastPiece = 4095

  /** The batches of `all` up to the one that makes so many bytes. */
  final private class UpTo(bytes: Long, all: Iterator[ArrowBatch]) extends Iterator[ArrowBatch] {
    private var taken = 0L
    override def hasNext: Boolean = taken < bytes && all.hasNext
    override def next(): ArrowBatch = {
      val batch = all.next()
      taken += batch.message.length
      batch
    }
  }
}
