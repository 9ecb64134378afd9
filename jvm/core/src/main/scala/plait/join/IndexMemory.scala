// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Told how much of the heap the index of buffered rows takes: ranks, handles, runs, queues, keys.
  *
  * {{{
  * a buffer made for 64 rows        add(1680)
  * grown to 128                     add(1664)
  * dropped at its side's end        add(-2592)
  * }}}
  *
  * It is told when arrays grow, keys come or either goes, never for a row. References count 4 bytes, as they do in
  * heaps below 32 GiB. Arrays of a fixed size are left out, and so is what grows with the rows of one probe.
  */
trait IndexMemory {

  /** So many bytes more, or if negative, fewer. It may make rows go to disk, whose handles stay valid. */
  def add(bytes: Long): Unit
}

object IndexMemory {

  /** Nobody wants to know. */
  case object Uncounted extends IndexMemory {
    override def add(bytes: Long): Unit = ()
  }

  /** A part of another that is given up at once. */
  final class Part(whole: IndexMemory) extends IndexMemory {
    private var sum = 0L

    override def add(bytes: Long): Unit = {
      sum += bytes
      whole.add(bytes)
    }

    def clear(): Unit = {
      whole.add(-sum)
      sum = 0
    }
  }

  /** What stands before the elements of an array. */
  private[plait] val ArrayHead = 16L
}
