// SPDX-License-Identifier: Apache-2.0
package plait.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}

import plait.spark.stream.StreamSymmetricHashJoinExec

/** A join in a physical plan, Spark's or Plait's, of batches or of streams: what they have no common type for.
  *
  * {{{
  * SymmetricHashJoin Inner on k#1 = k#5 AND (t#2 < t#6)        its title
  * }}}
  */
final case class JoinNode(
    node: BinaryExecNode,
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    condition: Option[Expression]
) {
  def title: String = {
    val keys = leftKeys.zip(rightKeys).map { case (l, r) => s"$l = $r" }
    val all = keys ++ condition.map(_.toString)
    s"${node.nodeName} $joinType${if (all.isEmpty) "" else all.mkString(" on ", " AND ", "")}"
  }
}

object JoinNode {
  val of: PartialFunction[SparkPlan, JoinNode] = {
    case j: BaseJoinExec => JoinNode(j, j.leftKeys, j.rightKeys, j.joinType, j.condition)
    case j: StreamSymmetricHashJoinExec =>
      JoinNode(j, j.leftKeys, j.rightKeys, j.spec.joinType, j.condition.full)
    case j: StreamingSymmetricHashJoinExec =>
      JoinNode(j, j.leftKeys, j.rightKeys, j.joinType, j.condition.full)
  }
}
