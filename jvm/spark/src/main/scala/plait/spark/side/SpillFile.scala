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
  * A row that it gives is valid until the next read or write. Closed, the file is gone.
  */
final class SpillFile(file: File) extends Closeable {
  import SpillFile._
  private val channel = FileChannel.open(file.toPath, CREATE, READ, WRITE)
  // Places of 1 MiB, of 2, of 4, ...
  private val vacant = Array.fill(Classes)(new util.ArrayDeque[java.lang.Long])
  private var end = 0L

  // What lies in the file from `chunkStart` on, `chunkLength` bytes of it.
  private var chunk = new Array[Byte](Chunk)
  private var chunkStart = 0L
  private var chunkLength = 0

  /** Writes a page and gives its place. */
  def write(page: MemoryBlock): Long = {
    chunkLength = 0
    val place = placeFor(page.size)
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

  /** Points `row` at the row whose length stands at this offset. */
  def read(at: Long, row: UnsafeRow): Unit = {
    val bytes = {
      load(at, LengthBytes)
      Platform.getLong(chunk, inChunk(at)).toInt
    }
    load(at, LengthBytes + bytes)
    row.pointTo(chunk, inChunk(at) + LengthBytes, bytes)
  }

  private def inChunk(at: Long): Long = Platform.BYTE_ARRAY_OFFSET + (at - chunkStart)

  /** Has so many bytes from here on in the chunk. */
  private def load(at: Long, needed: Int): Unit =
    if (at < chunkStart || at + needed > chunkStart + chunkLength) {
      if (chunk.length < needed) chunk = new Array[Byte](needed)
      val buffer = ByteBuffer.wrap(chunk)
      chunkStart = at
      chunkLength = 0
      var isOver = false
      // Invariant: the first `chunkLength` bytes of the chunk are those of the file from `at` on.
      while (!isOver && buffer.hasRemaining) {
        val read = channel.read(buffer, at + chunkLength)
        if (read < 0) isOver = true else chunkLength += read
      }
      if (chunkLength < needed) throw new EOFException(s"$file ends before ${at + needed}")
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
