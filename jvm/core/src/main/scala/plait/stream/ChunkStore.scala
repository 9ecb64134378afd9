// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** Where the rows of one side lie between two batches: a map from (segment, chunk) to rows, from the same
  * to bits, and from segment to what is known of its chunks. Every method is one look-up or one write.
  *
  * {{{
  * put chunk (7, 0), (7, 1)   put segment 7   put root (7)          what a batch writes that only adds
  * put bits (5, 3)                                                  a row of segment 5 has matched
  * remove chunk (4, 0)        put segment 4                         all of its rows were dead
  * }}}
  */
trait ChunkStore[R >: Null <: AnyRef] {

  /** What was saved last, or None before the first batch. */
  def root(): Option[StoreRoot]
  def saveRoot(root: StoreRoot): Unit

  def segment(id: Long): Segment
  def saveSegment(segment: Segment): Unit
  def removeSegment(id: Long): Unit

  /** Valid until it is removed. */
  def chunk(segment: Long, number: Int): Chunk[R]
  def removeChunk(segment: Long, number: Int): Unit

  /** Null if none was saved. */
  def bits(segment: Long, number: Int): Array[Long]
  def saveBits(segment: Long, number: Int, bits: Array[Long]): Unit
  def removeBits(segment: Long, number: Int): Unit

  /** What chunks are built with, one after the other. */
  def newBuilder(): ChunkBuilder[R]
}

/** What is known of a side's store as a whole.
  *
  * @param nextSegment
  *   the id of the segment to come
  * @param frontier
  *   of the other side: rows whose reach ends below it have left
  * @param segments
  *   those that hold rows, the oldest first
  */
final case class StoreRoot(nextSegment: Long, frontier: Long, segments: Seq[Long])

/** Rows with the hash of their key, by which they are sorted, their rank, and the end of their reach. */
trait Chunk[R] {
  def size: Int
  def hash(i: Int): Int
  def rank(i: Int): Long
  def end(i: Int): Long

  /** Valid until the next call of this. */
  def row(i: Int): R
}

/** A chunk in the making. The row is copied. */
trait ChunkBuilder[R] {
  def summary: ChunkSummary
  def add(hash: Int, rank: Long, end: Long, row: R): Unit

  /** No row more should be added. */
  def isFull: Boolean

  /** Stores what was added and begins anew. */
  def put(segment: Long, number: Int): Unit
}
