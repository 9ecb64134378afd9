// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Built rows of keys that are probed often: those of one key, a *cluster*, stand in places side by side, so that the ones
  * which a reach holds are found without a jump. The first row of its hash stands for a cluster: its *head*.
  *
  * {{{
  * place   0  1  2 | 3  4 | ...          cluster of the head 2: [0, 3)        of the head 4: [3, 5)
  * row     2  7  9 | 4  5
  * rank    8  2  5 | 1  1                reached of [0, 3) by [5, 9]: places 0 and 2
  * }}}
  *
  * Their ranks are in no sequence. Of many probing rows that reach many rows of their key that is quicker than to sort them.
  *
  * What it does not promise: that a key has a cluster. There are no more places than [[ClusteredRows.Places]].
  */
final class ClusteredRows {
  import ClusteredRows._

  private var rows = new Array[Int](FewPlaces)
  private var ranks = new Array[Long](FewPlaces)
  private var count = 0
  // By head: where a cluster begins and ends, and how often it was asked for.
  private var begins = new Array[Int](FewPlaces)
  private var ends = new Array[Int](FewPlaces)
  private var asked = new Array[Int](FewPlaces)

  /** Of so many rows none has a cluster. */
  def clear(size: Int): Unit = {
    count = 0
    if (asked.length < size) {
      asked = new Array[Int](size + size / 2)
      begins = new Array[Int](asked.length)
      ends = new Array[Int](asked.length)
    } else java.util.Arrays.fill(asked, 0, size, 0)
  }

  /** Asks for a cluster.
    * @return
    *   whether it was asked for often enough to be made now
    */
  def ask(head: Int): Boolean = {
    asked(head) += 1
    val isNow = asked(head) == Often
    // Else it would have that of another bucket if none is made.
    if (isNow) open(head)
    isNow
  }

  def has(head: Int): Boolean = asked(head) >= Often && ends(head) > begins(head)
  def begin(head: Int): Int = begins(head)
  def end(head: Int): Int = ends(head)

  /** Is it worth it, and is there room? */
  def takes(size: Int): Boolean = size >= FewestRows && count + size <= Places

  /** The rows that are added from here on are of this cluster. */
  def open(head: Int): Unit = {
    begins(head) = count
    ends(head) = count
  }

  /** @return
    *   the place of the row
    */
  def add(head: Int, row: Int, rank: Long): Int = {
    if (count == rows.length) {
      rows = java.util.Arrays.copyOf(rows, count * 2)
      ranks = java.util.Arrays.copyOf(ranks, count * 2)
    }
    rows(count) = row
    ranks(count) = rank
    count += 1
    ends(head) = count
    count - 1
  }

  def row(place: Int): Int = rows(place)

  /** How many places all clusters have. */
  def places: Int = count

  /** Writes down the places from `from` until `until` with low <= rank <= high, of which there must be room for all.
    * @return
    *   how many
    */
  def reached(from: Int, until: Int, low: Long, high: Long, into: Array[Int]): Int =
    if (low > high) 0
    else {
      // As unsigned numbers rank - low <= high - low, which is one comparison.
      val least = low + Long.MinValue
      val span = high - low + Long.MinValue
      var place = from
      var found = 0
      // Invariant: `into` begins with the `found` places before `place` that are reached. None is jumped over: which come
      // next cannot be foreseen, and a processor that has guessed wrong starts again.
      while (place < until) {
        into(found) = place
        found += (if (ranks(place) - least <= span) 1 else 0)
        place += 1
      }
      found
    }
}

object ClusteredRows {

  /** So often has a hash been probed when the cluster is made. */
  private val Often = 4

  /** Fewer are looked at one by one as quickly. */
  private val FewestRows = 8
  private val FewPlaces = 64

  /** So many rows of a bucket at most. */
  val Places: Int = 1 << 14

  /** What a built row of a bucket takes of the heap: of three arrays with half as much again. */
  val BytesPerRow: Int = 18

  /** And what a place takes. */
  val BytesPerPlace: Long = 4 + 8
}
