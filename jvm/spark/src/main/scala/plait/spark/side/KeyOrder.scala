// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.{BaseOrdering, RowOrdering}

/** The sequence in which Spark sorts rows by a key: ascending, by the first column, then by the next.
  *
  * {{{
  * Whole     3 before 5            Text     'a' before 'ab'            Columns     (1, 'z') before (2, 'a')
  * }}}
  *
  * Keys that are the same stand at one place, and both sides of a join have the same order.
  *
  * What it does not promise: that integers which share a long come in it wherever they were sorted; negative ones may not.
  */
trait KeyOrder {

  /** Less than 0 if the key comes before the other, 0 if it stands at the same place. */
  def compare(key: RowKey, other: RowKey): Int

  /** Is it known that keys at one place are the same? Where it is not, they are compared: Spark's order of columns and our
    * equality of their bytes are two things, though keys that tell one from the other should not come here.
    */
  def tellsApart: Boolean
}

object KeyOrder {

  /** None for keys that have no order. */
  def of(form: KeyForm): Option[KeyOrder] = form match {
    case _: KeyForm.Whole => Some(Whole)
    case _: KeyForm.Text => Some(Text)
    case KeyForm.Columns(columns) =>
      val types = columns.map(_.dataType)
      Option.when(types.nonEmpty && RowOrdering.isOrderable(columns)) {
        new ByColumns(RowOrdering.createNaturalAscendingOrdering(types))
      }
  }

  final private class ByColumns(ordering: BaseOrdering) extends KeyOrder {
    override def tellsApart: Boolean = false
    override def compare(key: RowKey, other: RowKey): Int = ordering.compare(key.key, other.key)
  }

  private object Whole extends KeyOrder {
    override def tellsApart: Boolean = true
    override def compare(key: RowKey, other: RowKey): Int =
      java.lang.Long.compare(key.keyValue, other.keyValue)
  }

  private object Text extends KeyOrder {
    override def tellsApart: Boolean = true
    override def compare(key: RowKey, other: RowKey): Int = key.compareText(other)
  }
}
