// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import plait.BySide

/** All rows of some keys that follow each other, of two sides that are known to come by key, stored to be joined as those of
  * a table would be.
  *
  * {{{
  * left   1 1 2 | 4 4 | 7                                   portions of 5 rows or more, of an inner join:
  * right    2 2 2 | 4 |   8 8                               { 2 / 2 2 2, 4 4 / 4 }; 1 and 7 have no partner; 8 8 is not read
  * }}}
  *
  * A portion has some tens of thousands of rows, or those of one key if that has more. Rows of a key that the other side
  * lacks are stored only if they come out.
  */
final private[spark] class KeyPortions(sides: BySide[RowsByKey], order: KeyOrder) {
  import sides.{left, right}

  /** Can what is still to come give a row? */
  def hasMore: Boolean =
    (!left.isOver || (right.isAloud && !right.isOver)) &&
      (!right.isOver || (left.isAloud && !left.isOver))

  /** Stores a portion. It begins with the key that began last.
    *
    * @param before
    *   right rows of that key which were at hand before
    */
  def store(before: FewRows): Unit = {
    left.beginStoring()
    right.beginStoring()
    left.takeRest()
    right.takeBack(before)
    right.takeRest()
    // Invariant: the rows before those at hand were stored, or match nothing and do not come out.
    while (hasMore && left.stored + right.stored < KeyPortions.Rows)
      if (isAlone(left)) passAlone(left)
      else if (isAlone(right)) passAlone(right)
      else if (meet()) {
        left.takeKey()
        right.takeKey()
      }
  }

  /** Has the row at hand no key, or one that the other side lacks? */
  def isAlone(side: RowsByKey): Boolean = !side.isOver && !side.isAtNewKey

  private def passAlone(side: RowsByKey): Unit =
    if (side.isAloud) side.takeAlone() else side.pass()

  /** Are the keys at hand, two new ones, the same? If not, the rows of the one that comes first are passed, or come out
    * next.
    */
  def meet(): Boolean = {
    val compared = compare()
    if (compared < 0) left.passBefore(right.reader)
    else if (compared > 0) right.passBefore(left.reader)
    compared == 0
  }

  /** Less than 0 if the left key at hand comes first. */
  private def compare(): Int =
    if (left.isOver) 1 else if (right.isOver) -1 else order.compare(left.reader, right.reader)
}

private[spark] object KeyPortions {

  /** So many rows are stored together. */
  private val Rows = 1 << 16
}
