// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Numbers, first in, first out, in a ring: 8 bytes each.
  *
  * {{{
  * append 5, 7, 9        head 5, last 9        removeHead 5        removeLast 9        head and last 7
  * }}}
  */
final private[join] class LongQueue(index: IndexMemory = IndexMemory.Uncounted) {
  // Holds [start, start + count) modulo its length, which is a power of two.
  private var ring = new Array[Long](2)
  private var start = 0
  private var count = 0

  def isEmpty: Boolean = count == 0
  def head: Long = ring(start)
  def last: Long = ring(at(count - 1))

  private def at(n: Int): Int = (start + n) & (ring.length - 1)

  def append(number: Long): Unit = {
    if (count == ring.length) widen()
    ring(at(count)) = number
    count += 1
  }

  def removeHead(): Long = {
    val number = head
    start = at(1)
    count -= 1
    number
  }

  def removeLast(): Long = {
    val number = last
    count -= 1
    number
  }

  private def widen(): Unit = {
    index.add(8L * ring.length)
    val wide = new Array[Long](ring.length * 2)
    System.arraycopy(ring, start, wide, 0, count - start)
    System.arraycopy(ring, 0, wide, count - start, start)
    ring = wide
    start = 0
  }
}
