// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util

/** The indices of hashes in their order; of equal hashes, as they came.
  *
  * {{{
  * hashes  9 -3 9 4        order  1 3 0 2
  * }}}
  *
  * Few are compared. Many are dealt three times, by 11, 11 and 10 bits of the hash, the lowest first.
  */
private[stream] object SortByHash {
  private val Few = 512
  private val Bits = 11
  private val Buckets = 1 << Bits

  def order(hashes: Array[Int], count: Int): Array[Int] = {
    val packed = new Array[Long](count)
    var i = 0
    // A hash in the upper half and its index in the lower sort as the hash does.
    while (i < count) {
      packed(i) = (hashes(i).toLong << 32) | i
      i += 1
    }
    indices(if (count < Few) compared(packed) else dealt(packed))
  }

  private def compared(packed: Array[Long]): Array[Long] = {
    util.Arrays.sort(packed)
    packed
  }

  private def dealt(packed: Array[Long]): Array[Long] = {
    var from = packed
    var to = new Array[Long](packed.length)
    var shift = 32
    // Invariant: `from` is in the order of the bits of the hash below `shift`.
    while (shift < 64) {
      deal(from, to, shift)
      val spare = from
      from = to
      to = spare
      shift += Bits
    }
    from
  }

  /** Puts them by some of their bits, those that have the same as they came. */
  private def deal(from: Array[Long], to: Array[Long], shift: Int): Unit = {
    val next = new Array[Int](Buckets + 1)
    var i = 0
    while (i < from.length) {
      next(bucket(from(i), shift) + 1) += 1
      i += 1
    }
    var b = 0
    // Invariant: `next` up to `b` says where a bucket begins.
    while (b < Buckets) {
      next(b + 1) += next(b)
      b += 1
    }
    i = 0
    // Invariant: those before `i` stand in their buckets, and `next` says where the next one of each goes.
    while (i < from.length) {
      val place = bucket(from(i), shift)
      to(next(place)) = from(i)
      next(place) += 1
      i += 1
    }
  }

  /** The sign comes last, and turned round: negative hashes stand first. */
  private def bucket(packed: Long, shift: Int): Int =
    ((packed ^ Long.MinValue) >>> shift).toInt & (Buckets - 1)

  private def indices(packed: Array[Long]): Array[Int] = {
    val order = new Array[Int](packed.length)
    var i = 0
    while (i < packed.length) {
      order(i) = packed(i).toInt
      i += 1
    }
    order
  }
}
