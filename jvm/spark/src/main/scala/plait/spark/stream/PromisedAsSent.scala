// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import java.io.{ObjectInputStream, ObjectOutputStream}

import plait.BySide

/** What the rows of a batch have promised when a stage is sent to its tasks:
  *
  * {{{
  * driver      stage 1: rows are read and dealt by key      greatest seq 500, as its tasks end
  *             stage 2: is serialized now                   500 goes with it
  * task                                                     ranks = 500
  * }}}
  *
  * Spark serializes a stage when it begins, once all those before it are over, and accumulators hold by then what their
  * tasks have seen. Before, it may be serialized to try whether that can be done; what is seen then goes nowhere.
  *
  * @param now
  *   only on the driver
  */
final class PromisedAsSent(@transient private val now: () => BySide[Long]) extends Serializable {
  @transient private var sent: BySide[Long] = _

  def ranks: BySide[Long] = if (sent == null) now() else sent

  private def writeObject(out: ObjectOutputStream): Unit = {
    val BySide(left, right) = ranks
    out.writeLong(left)
    out.writeLong(right)
  }

  private def readObject(in: ObjectInputStream): Unit =
    sent = BySide(in.readLong(), in.readLong())
}
