// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** The rows of its input, as they are: generated code ends here, so that what stands below is one stage of
  * it and what stands above another.
  *
  * {{{
  * *(2) HashAggregate
  * +- *(2) SymmetricHashJoin          asks for rows, and gives pairs to the code above
  *    :- CodegenBoundary
  *    :  +- *(1) Filter               would else be neither the join's code nor code of its own
  *    :     +- *(1) ColumnarToRow
  * }}}
  *
  * It does nothing while a query runs. Put in by [[plait.spark.planner.CodegenBoundaries]].
  */
final case class CodegenBoundaryExec(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): CodegenBoundaryExec =
    copy(child = newChild)
}
