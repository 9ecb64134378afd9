// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.io.{Closeable, EOFException, File}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.StandardOpenOption.{CREATE, READ, WRITE}
import java.util

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.memory.MemoryBlock

/** Pages of rows on disk, each at a place of its own in one file, where they can be read row by row:
  *
  * {{{
  * place 0             1 MiB               2 MiB
  *       | page 7      | (free)            | page 12 ...
  * }}}
  *
  * Places are 1 MiB apart, or 2, 4, 8 ... of larger pages, and used again. Rows are read in chunks of some KiB: those
  * of a key mostly lie near each other.
  *
  * A row that it gives is valid until the next read. Closed, the file is gone.
  *
  * @param seal
  *   encrypts the pages, each from a start of its own
  */
final class SpillFile(file: File, seal: Option[SpillSeal]) extends Closeable {
  import SpillFile._
  private val channel = FileChannel.open(file.toPath, CREATE, READ, WRITE)
  // Places of 1 MiB, of 2, of 4, ...
  private val vacant = Array.fill(Classes)(new util.ArrayDeque[java.lang.Long])
  private var end = 0L
  // What the page at a place was encrypted from.
  private val starts = new util.HashMap[java.lang.Long, Array[Byte]]

  // What lies in the file `chunkStart` behind the place `chunkPlace`, `chunkLength` bytes of it.
  private var chunk = new Array[Byte](Chunk)
  private var chunkPlace = -1L
  private var chunkStart = 0L
  private var chunkLength = 0

  /** Writes a page and gives its place. */
  def write(page: MemoryBlock): Long = {
    chunkLength = 0
    val place = placeFor(page.size)
    seal.foreach(by => starts.put(place, by.newStart()))
    val buffer = ByteBuffer.allocate(math.min(page.size, Slot).toInt)
    var done = 0L
    // Invariant: the first `done` bytes of the page are in the file.
    while (done < page.size) {
      val bytes = math.min(page.size - done, buffer.capacity.toLong).toInt
      Platform.copyMemory(
        page.getBaseObject,
        page.getBaseOffset + done,
        buffer.array,
        Platform.BYTE_ARRAY_OFFSET.toLong,
        bytes.toLong
      )
      turn(place, done, buffer.array, bytes)
      buffer.clear().limit(bytes)
      while (buffer.hasRemaining) channel.write(buffer, place + done + buffer.position)
      done += bytes
    }
    place
  }

  private def placeFor(size: Long): Long = {
    val places = vacant(classOf(size))
    if (places.isEmpty) {
      val place = end
      end += Slot << classOf(size)
      place
    } else places.pop()
  }

  /** What is between a page's end and the next place is never written, and takes no room on most disks. */
  private def classOf(size: Long): Int =
    java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros((size - 1) / Slot)

  private def turn(place: Long, offset: Long, bytes: Array[Byte], length: Int): Unit =
    seal.foreach(_.turn(starts.get(place), offset, bytes, length))

  /** Points `row` at the row whose length stands at this offset in the page. */
  def read(place: Long, offset: Long, row: UnsafeRow): Unit = {
    val bytes = {
      load(place, offset, LengthBytes)
      Platform.getLong(chunk, inChunk(offset)).toInt
    }
    load(place, offset, LengthBytes + bytes)
    row.pointTo(chunk, inChunk(offset) + LengthBytes, bytes)
  }

  private def inChunk(offset: Long): Long = Platform.BYTE_ARRAY_OFFSET + (offset - chunkStart)

  /** Has so many bytes from here on in the chunk; those behind the page's end mean nothing. */
  private def load(place: Long, offset: Long, needed: Int): Unit =
    if (place != chunkPlace || offset < chunkStart || offset + needed > chunkStart + chunkLength) {
      chunkPlace = place
      chunkStart = offset / SpillSeal.Block * SpillSeal.Block
      chunkLength = 0
      val least = (offset - chunkStart).toInt + needed
      if (chunk.length < least) chunk = new Array[Byte](least)
      // No more than that, though a long row may have made the chunk longer: the next one is another's page.
      val buffer = ByteBuffer.wrap(chunk, 0, math.max(Chunk, least))
      var isOver = false
      // Invariant: the first `chunkLength` bytes of the chunk are those of the file from `chunkStart` on.
      while (!isOver && buffer.hasRemaining) {
        val read = channel.read(buffer, place + chunkStart + chunkLength)
        if (read < 0) isOver = true else chunkLength += read
      }
      if (chunkLength < least)
        throw new EOFException(s"$file ends before ${place + chunkStart + least}")
      turn(place, chunkStart, chunk, chunkLength)
    }

  /** The page at this place is not needed any more. */
  def free(place: Long, size: Long): Unit = vacant(classOf(size)).push(place)

  override def close(): Unit = {
    channel.close()
    val _ = file.delete()
  }
}

object SpillFile {
  private val Slot = 1024L * 1024
  // No page is as long as 2 to the 43rd bytes.
  private val Classes = 24
  private val Chunk = 8 * 1024
  private val LengthBytes = 8
}
