// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** A `JOIN ... USING` and the clause that belongs into its condition, which Spark makes of the USING
  * columns only when it knows them. Until then the names of the clause must not be looked up, so it is
  * carried where Spark sees no expression.
  *
  * {{{
  * UsingMatch(m, Join(l, r, UsingJoin(LeftOuter, k), None))
  *     becomes Project(k, l.v, r.w, Join(l, r, LeftOuter, l.k = r.k AND m))
  * }}}
  */
final case class UsingMatch(clause: Carried[Expression], child: LogicalPlan) extends UnaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UsingMatch =
    copy(child = newChild)
}
