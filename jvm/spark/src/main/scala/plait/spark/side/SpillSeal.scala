// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.security.SecureRandom
import javax.crypto.Cipher
import javax.crypto.spec.{IvParameterSpec, SecretKeySpec}

/** Encrypts what goes to a file such that it can be read from the middle: AES in counter mode, which is Spark's own
  * choice for its files, with Spark's key (`spark.io.encryption.enabled`). A block of 16 bytes is hidden by the
  * encrypted number of the block, counted from a start:
  *
  * {{{
  * bytes 32 .. 47      XOR  AES(key, start + 2)
  * }}}
  *
  * Spark's streams read from the front only. Nothing is promised of bytes that somebody has changed.
  *
  * Conventions:
  *   1. A start is random, and one is drawn whenever bytes are written: two pages that are hidden by the same
  *      numbers would tell what differs between them.
  *   2. Encrypting and decrypting are the same.
  */
class SpillSeal(key: Array[Byte]) {
  import SpillSeal._
  private val cipher = Cipher.getInstance("AES/CTR/NoPadding")
  private val secret = new SecretKeySpec(key, "AES")
  private val random = new SecureRandom

  def newStart(): Array[Byte] = {
    val start = new Array[Byte](Block)
    random.nextBytes(start)
    start
  }

  /** @param offset
    *   where the first `length` of the bytes stand, counted from where `start` was; a multiple of a block
    */
  def turn(start: Array[Byte], offset: Long, bytes: Array[Byte], length: Int): Unit = {
    require(offset % Block == 0, s"no block begins at $offset")
    val number = new IvParameterSpec(plus(start, offset / Block))
    cipher.init(Cipher.ENCRYPT_MODE, secret, number)
    cipher.doFinal(bytes, 0, length, bytes, 0): Unit
  }

  /** The start as a number of 16 bytes, the first the highest, which begins anew after its greatest. */
  private def plus(start: Array[Byte], blocks: Long): Array[Byte] = {
    val sum = start.clone()
    var carry = blocks
    var at = Block - 1
    // Invariant: the bytes behind `at` are those of the sum, and `carry` is still to be added to the others.
    while (at >= 0 && carry > 0) {
      carry += sum(at) & 0xff
      sum(at) = carry.toByte
      carry >>>= 8
      at -= 1
    }
    sum
  }
}

object SpillSeal {

  /** Bytes. */
  val Block: Int = 16
}
