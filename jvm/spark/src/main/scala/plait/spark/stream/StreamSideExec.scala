// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import plait.spark.translate.EventTimeColumn

/** One side of a join of streams: its rows as they are, of columns that do not say that they are event times.
  * Spark's rules of watermarks look at the columns of its own join and allow it one event time a side;
  * Plait's keeps frontiers itself.
  */
final case class StreamSideExec(child: SparkPlan) extends UnaryExecNode {
  override lazy val output: Seq[Attribute] = child.output.map(EventTimeColumn.unmarked)
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): StreamSideExec =
    copy(child = newChild)
}
