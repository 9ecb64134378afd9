// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  SortOrder,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.util.AccumulatorV2

/** Notes how far the rows of a batch have come in an order that is declared of them, over all partitions:
  *
  * {{{
  * ORDERED(l, seq, 100)      partitions 500 450, 390 520      seen 420
  * }}}
  *
  * All rows pass. Whether one comes too late for a join is for the join to say, which knows the frontier that
  * it has pruned with.
  *
  * @param rank
  *   of the frontier as a row says it: what no later row is before
  */
final case class StreamOrderExec(claim: OrderedRows, rank: Expression, child: SparkPlan)
    extends UnaryExecNode
    with DeclaresFrontier {

  private val greatest = new GreatestRank
  sparkContext.register(greatest)

  override def seen: Long = greatest.value

  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val (value, columns, to) = (rank, child.output, greatest)
    child.execute().mapPartitions { rows =>
      val rankOf = UnsafeProjection.create(Seq(value), columns)
      rows.map { row =>
        val found = rankOf(row)
        if (!found.isNullAt(0)) to.add(found.getLong(0))
        row
      }
    }
  }

  override protected def stringArgs: Iterator[Any] =
    Iterator(claim.relation, claim.order) ++ claim.frontier.map(f => s"frontier $f")

  override protected def withNewChildInternal(newChild: SparkPlan): StreamOrderExec =
    copy(child = newChild)
}

/** The greatest of some ranks; the least that there is, if there are none. */
final class GreatestRank(private var greatest: Long = Long.MinValue)
    extends AccumulatorV2[Long, Long] {
  override def isZero: Boolean = greatest == Long.MinValue
  override def copy(): GreatestRank = new GreatestRank(greatest)
  override def reset(): Unit = greatest = Long.MinValue
  override def add(rank: Long): Unit = greatest = math.max(greatest, rank)
  override def merge(other: AccumulatorV2[Long, Long]): Unit = add(other.value)
  override def value: Long = greatest
}
