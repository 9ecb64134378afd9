// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  InheritAnalysisRules,
  RuntimeReplaceable
}
import org.apache.spark.sql.types.DataType

/** Where a window begins or ends, and of which shape it is. To Spark it is the expression that computes it,
  * and the optimizer leaves only that. Until then the shape can be asked for: a window join compares
  * windows of one shape, and `window_time` follows from `window_end`.
  *
  * No column carries the shape: a table that keeps windows would keep it, too, when it is no longer true.
  *
  * @param timeType
  *   of the column that the windows are laid over; the edge itself is of the wall clock
  */
final case class WindowEdge(
    end: WindowEdge.End,
    shape: WindowShape,
    timeType: DataType,
    replacement: Expression
) extends RuntimeReplaceable
    with InheritAnalysisRules {
  override def toString: String = s"${end.name} of ${shape.sql}"
  override def prettyName: String = end.name
  override def parameters: Seq[Expression] = Seq(replacement)
  override protected def withNewChildInternal(newChild: Expression): WindowEdge =
    copy(replacement = newChild)
}

object WindowEdge {
  sealed abstract class End(val name: String) extends Product with Serializable
  case object First extends End("window_start")
  case object Last extends End("window_end")
}
