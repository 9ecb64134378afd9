// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._

/** Orders that tell apart what no order does: values that are equal and look different, and values of types
  * without an order. They decide last of all which of several right rows is picked, so that it is the same
  * row however the rows come.
  *
  * {{{
  * 0.0 and -0.0                    by their text: 0.0 is the last
  * 'a' and 'A' under UTF8_LCASE    by their bytes
  * MAP(1, 2) and MAP(1, 3)         by their text
  * }}}
  *
  *   1. Nothing tells apart maps, intervals or variants of one text.
  *   1. A type that has no text has no distinction.
  */
object Distinction {

  def all(columns: Seq[Attribute]): Seq[SortOrder] = columns.flatMap(of)

  /** It is no order of the user's by such a text. */
  def isOne(order: SortOrder): Boolean = order.child.getTagValue(Ours).isDefined

  private val Ours = TreeNodeTag[Unit]("plait.distinction")

  private def of(column: Attribute): Option[SortOrder] =
    target(column.dataType).filter(Cast.canCast(column.dataType, _)).map { to =>
      val image = Cast(column, to, Some("UTC"))
      image.setTagValue(Ours, ())
      SortOrder(image, Ascending)
    }

  private def target(dataType: DataType): Option[DataType] =
    if (RowOrdering.isOrderable(dataType) && isOneForm(dataType)) None
    else if (dataType.isInstanceOf[StringType]) Some(BinaryType)
    else Some(StringType)

  /** Do values of the type that are equal look the same? */
  private def isOneForm(dataType: DataType): Boolean = dataType match {
    case DoubleType | FloatType => false
    case ArrayType(element, _) => isOneForm(element)
    case StructType(fields) => fields.forall(field => isOneForm(field.dataType))
    case other => UnsafeRowUtils.isBinaryStable(other)
  }
}
