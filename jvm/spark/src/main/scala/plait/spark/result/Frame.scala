// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.io.{BufferedOutputStream, DataOutputStream, IOException, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8

/** One message of an operation to the process that forwards its result:
  * {{{
  *   kind (1 byte)   length (4 bytes, big-endian)   payload (so many bytes)
  * }}}
  * A result of two batches is the frames `S B B E`; one that fails after the first is `S B F`.
  *
  *   1. `S`, first and once: the schema, an encapsulated message of an Arrow IPC stream.
  *   1. `B`: the number of rows (8 bytes, big-endian), then a record batch, an encapsulated message too.
  *   1. `P`, at any time before the last: how far the jobs are, JSON (see [[Progress]]).
  *   1. `E` (JSON: rows, bytes, milliseconds, counters) or `F` (JSON, see [[Failure]]), last and once.
  */
sealed abstract class Frame(val kind: Byte)

object Frame {
  final case class Schema(message: Array[Byte]) extends Frame('S')
  final case class Batch(rows: Long, message: Array[Byte]) extends Frame('B')
  final case class Progressed(json: String) extends Frame('P')
  final case class Ended(json: String) extends Frame('E')
  final case class Failed(json: String) extends Frame('F')
}

/** The other end of the socket is closed. */
final class ReaderGone(cause: IOException) extends RuntimeException(cause)

/** Writes frames to a stream, each as a whole: threads take turns. */
final class FrameWriter(stream: OutputStream) {
  private val out = new DataOutputStream(new BufferedOutputStream(stream, 1 << 16))

  /** Throws [[ReaderGone]] where nobody reads any more. */
  def write(frame: Frame): Unit = synchronized {
    try send(frame)
    catch { case error: IOException => throw new ReaderGone(error) }
  }

  private def send(frame: Frame): Unit = {
    out.writeByte(frame.kind.toInt)
    frame match {
      case Frame.Batch(rows, message) =>
        out.writeInt(message.length + java.lang.Long.BYTES)
        out.writeLong(rows)
        out.write(message)
      case Frame.Schema(message) => sized(message)
      case Frame.Progressed(json) => sized(json.getBytes(UTF_8))
      case Frame.Ended(json) => sized(json.getBytes(UTF_8))
      case Frame.Failed(json) => sized(json.getBytes(UTF_8))
    }
    out.flush()
  }

  private def sized(payload: Array[Byte]): Unit = {
    out.writeInt(payload.length)
    out.write(payload)
  }
}
