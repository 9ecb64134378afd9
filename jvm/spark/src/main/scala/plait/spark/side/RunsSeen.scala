// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/** Whether the rows of one side come in the sequence of their keys, seen as they come, and their [[KeyRuns]].
  *
  * {{{
  * k 3, k 3, k NULL, k 4, k 7        comes by key
  * k 3, k 3, k 2                     does not
  * }}}
  *
  * Conventions:
  *   1. The sequence is that of [[KeyOrder]]; nobody has to say that rows come in it.
  *   2. After the first row that is out of place nothing is seen any more, as it costs time.
  *
  * @param reader
  *   of key and rank, for the rows that come; ends of a reach are not asked for
  */
final private[spark] class RunsSeen(val reader: SideReader, order: KeyOrder) {
  val runs = new KeyRuns
  private val last = new HeldKey
  private var isSoFar = true

  /** The row that the reader has read is the next one.
    * @return whether all rows up to it come by key
    */
  def see(): Boolean = {
    if (!reader.reaches) runs.addDead()
    else {
      val compared = if (runs.count == 0) -1 else order.compare(last, reader)
      if (compared < 0) {
        last.hold(reader)
        runs.beginRun()
      } else if (compared > 0) isSoFar = false
      runs.goOn()
    }
    isSoFar
  }
}

private[spark] object RunsSeen {

  /** @param after
    *   how many rows come before it is worth to look at their keys
    */
  final case class Watch(key: KeyForm, after: Int)

  /** None of keys that have no order. */
  def of(key: KeyForm, rank: Expression, output: Seq[Attribute]): Option[RunsSeen] =
    KeyOrder.of(key).map(new RunsSeen(SideReader.create(key, Seq.fill(3)(rank), output), _))
}
