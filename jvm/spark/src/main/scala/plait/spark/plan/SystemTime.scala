// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnaryExpression,
  Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.types.{BooleanType, DataType}

/** `FOR SYSTEM_TIME AS OF` of a join's right side, as a conjunct of its condition until the names in it
  * are known: of each key the right side's version that was valid at that time.
  *
  * {{{
  * o JOIN r FOR SYSTEM_TIME AS OF o.ts ON o.c = r.c          Join(o, r, Inner, o.c = r.c AND SystemTime(o.ts))
  * FOR SYSTEM_TIME AS OF PROCTIME()                          SystemTime(None): the newest version
  * }}}
  */
final case class SystemTime(time: Option[Expression]) extends Expression with Unevaluable {
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def children: Seq[Expression] = time.toSeq
  override def sql: String = s"FOR SYSTEM_TIME AS OF ${time.fold("PROCTIME()")(_.sql)}"

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): SystemTime = SystemTime(newChildren.headOption)
}

/** A condition on the pair that was chosen, which does not choose: a conjunct of a join's condition until
  * its [[AsOfJoin]] is made.
  */
final case class AfterChoice(child: Expression) extends UnaryExpression with Unevaluable {
  override def dataType: DataType = BooleanType
  override protected def withNewChildInternal(newChild: Expression): AfterChoice = AfterChoice(
    newChild
  )
}

/** A relation `FOR SYSTEM_TIME AS OF`, while its statement is parsed: the join to its left takes the time.
  */
final case class AtSystemTime(time: Carried[SystemTime], child: LogicalPlan) extends UnaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): AtSystemTime =
    copy(child = newChild)
}
