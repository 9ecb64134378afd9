// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import plait.spark.OrderViolation

/** Checks row by row that its input keeps a declared order (see [[plait.spark.plan.OrderedBy]]):
  *
  * {{{
  * seq ASC, slack 100       500 450 390        fail: an error that names 500 and 390
  *                                             drop: 500 450, and 1 counted
  *                                             keep: 500 450 390, and 1 counted
  * }}}
  *
  * It reports no order to Spark.
  */
final case class OrderedByExec(
    order: SortOrder,
    frontier: Option[Expression],
    onViolation: OrderViolation,
    child: SparkPlan
)(val relation: String)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override lazy val metrics: Map[String, SQLMetric] = Map(
    OrderedByExec.OutOfOrder -> SQLMetrics.createMetric(sparkContext, "rows out of order")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val claim = new OrderClaim(order, frontier, relation, child.output, conf.sessionLocalTimeZone)
    val outOfOrder = metrics(OrderedByExec.OutOfOrder)
    val violation = onViolation
    val isByFile = RowsByFile.isOfOneInput(child)
    child.execute().mapPartitions { all =>
      val check = claim.check()
      val rows = if (isByFile) new RowsByFile(all, () => check.beginAnew()) else all
      violation match {
        case OrderViolation.Fail =>
          rows.map(row => if (check.isKept(row)) row else throw check.violated(row))
        case OrderViolation.Drop =>
          rows.filter(row => check.isKept(row) || { outOfOrder += 1; false })
        case OrderViolation.Keep =>
          rows.map { row => if (!check.isKept(row)) outOfOrder += 1; row }
      }
    }
  }

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(relation)

  override protected def stringArgs: Iterator[Any] =
    Iterator(relation, order) ++ frontier.map(f => s"frontier $f") ++
      Iterator(s"on violation: ${onViolation.name}")

  override protected def withNewChildInternal(newChild: SparkPlan): OrderedByExec =
    copy(child = newChild)(relation)
}

object OrderedByExec {

  /** The metric of rows that came against the order. */
  val OutOfOrder = "outOfOrder"
}
