// SPDX-License-Identifier: Apache-2.0
package plait.join

/** The buffered rows of one side.
  *
  * Conventions:
  *   1. A row is buffered with its rank and the `end` of its reach in the other side's ranks, closed;
  *      `Long.MaxValue` is no end.
  *   2. A row is dead once the other side's frontier is greater than its end.
  *   3. A probe gives every live row of the key whose rank lies in `[low, high]`, by rank; rows of
  *      equal rank come in the sequence of their arrival.
  *   4. One probe at a time: [[next]] belongs to the last [[probe]], and the buffer must not change
  *      between the two.
  *   5. A row that it gives is valid until the next call.
  *
  * @tparam K
  *   a key, already looked up
  * @tparam R
  *   a row
  */
trait RowBuffer[K >: Null <: AnyRef, R >: Null <: AnyRef] {
  def append(key: K, row: R, rank: Long, end: Long): Unit

  def probe(key: K, low: Long, high: Long): Unit

  /** The next row of the probe, or null. */
  def next(): R

  /** The row that was appended or given by [[next]] last has a match. */
  def mark(): Unit

  /** All is known of the row that [[next]] gave last: it is dropped, at the latest by [[endProbe]]. */
  def settle(): Unit

  /** The probe is over. */
  def endProbe(): Unit

  /** Drops the rows whose reach ends before the frontier.
    * @return how many
    */
  def takeDead(frontier: Long): Long

  /** Drops rows whose reach ends before the frontier, up to the first one without a match.
    * @return that row, or null if there is none
    */
  def takeUnmatched(frontier: Long): R

  /** Drops all rows, of which none will be looked up any more: the buffer has come to its end.
    * @return how many
    */
  def takeAll(): Long

  /** Drops rows, whatever they reach, up to the first one without a match; none of the buffer's rows
    * will be looked up any more.
    * @return that row, or null if there is none
    */
  def takeUnmatchedOfAll(): R

  /** How many rows it holds. */
  def size: Long
}

/** Where the bytes of buffered rows lie. A handle is valid until it is freed. */
trait RowStore[R] {
  def put(row: R): Long

  /** The row, valid until the next call. */
  def get(handle: Long): R
  def free(handle: Long): Unit

  /** Puts a row in the place of another, whose handle is invalid from here on. */
  def replace(handle: Long, row: R): Long = {
    free(handle)
    put(row)
  }

  /** Whether most of what it holds are places of rows that are gone. */
  def isSparse: Boolean = false

  /** The handle of the row from here on: of a sparse store it may be put elsewhere, so that its place and those of the
    * rows around it that are gone can be used for others.
    */
  def moved(handle: Long): Long = handle

  /** Frees all at once. */
  def clear(): Unit
}

/** The rows of both sides by key.
  *
  * @tparam Q
  *   a key as it comes with a row; not kept
  */
trait KeyTable[-Q, K >: Null <: AnyRef] {

  /** The key if a row of it is buffered, else null. */
  def find(key: Q): K

  /** The key, made if need be. The caller buffers a row of it. */
  def claim(key: Q): K

  /** Called when the last row of a key has gone from both sides. */
  def release(key: K): Unit

  /** Called for a claimed key of which no row was buffered: it is released if it has no others. */
  def releaseUnused(key: K): Unit

  /** Forgets all keys: none will be looked up any more. */
  def clear(): Unit
}
