// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** Where a stored row lies, in one number: the index of its segment (26 bits), its chunk (26 bits), its
  * number in the chunk (11 bits).
  *
  * {{{
  * Place.of(3, 5, 200)      segment 3, chunk 5, row 200
  * }}}
  */
private[stream] object Place {
  private val RowBits = 11
  private val ChunkBits = 26

  /** No chunk may hold more. */
  val MostRows: Int = 1 << RowBits

  /** Of a row that came with this batch. */
  val New: Long = -1L

  def of(segment: Int, chunk: Int, row: Int): Long =
    (((segment.toLong << ChunkBits) | chunk) << RowBits) | row

  def row(place: Long): Int = (place & (MostRows - 1)).toInt

  /** Segment and chunk together. */
  def chunkOf(place: Long): Long = place >>> RowBits
  def chunk(place: Long): Int = (chunkOf(place) & ((1 << ChunkBits) - 1)).toInt
  def segment(place: Long): Int = (chunkOf(place) >>> ChunkBits).toInt
}
