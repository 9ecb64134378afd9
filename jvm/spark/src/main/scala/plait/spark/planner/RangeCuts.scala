// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.aggregate.ApproximatePercentile
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal, ScalarSubquery}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{ArrayType, DoubleType}

/** Where the order line of a side is cut into ranges of like many rows: quantiles of a sample, as a
  * subquery that Spark runs once.
  *
  * {{{
  * x of 8 rows: 1 1 2 5 7 7 8 9        three cuts: [1, 5, 7]        four ranges, by RangeOf
  * }}}
  *
  * What it does not promise: that the ranges are even.
  */
object RangeCuts {
  private val SampledRows = 200000
  private val LeastShare = BigDecimal(0.01)

  /** A side, the rank of its rows, and how many they are, if that is known. */
  final case class Ranked(side: LogicalPlan, rank: Expression, rows: Option[BigInt])

  def of(side: LogicalPlan, rank: Expression, ranges: Int, rows: Option[BigInt]): ScalarSubquery =
    of(Seq(Ranked(side, rank, rows)), ranges)

  /** Of the rows of several sides together. */
  def of(sides: Seq[Ranked], ranges: Int): ScalarSubquery = {
    val known = sides.flatMap(_.rows)
    val share = if (known.size == sides.size) shareOf(known.sum) else 1.0
    val samples = sides.map { case Ranked(side, rank, _) =>
      sampled(Project(Seq(Alias(rank, "rank")()), side), share)
    }
    val sample = if (samples.size == 1) samples.head else Union(samples)
    val percentile = new ApproximatePercentile(
      sample.output.head,
      Literal.create(quantiles(ranges), ArrayType(DoubleType, containsNull = false)),
      Literal(ApproximatePercentile.DEFAULT_PERCENTILE_ACCURACY)
    )
    val cuts = Alias(percentile.toAggregateExpression(), "cuts")()
    subquery(Aggregate(Nil, Seq(cuts), sample))
  }

  private def quantiles(ranges: Int): Array[Double] =
    (1 until ranges).map(_.toDouble / ranges).toArray

  private def sampled(plan: LogicalPlan, share: Double): LogicalPlan =
    if (share < 1) Sample(0, share, withReplacement = false, Some(1L), plan) else plan

  /** So many rows are enough for the cuts; the sizes may be guessed much too high. */
  private def shareOf(rows: BigInt): Double =
    (BigDecimal(SampledRows) / BigDecimal(rows.max(1))).max(LeastShare).min(1).toDouble

  /** What is made of one row over a side. The side is not optimized to its end where it is made (its own
    * subqueries, Python functions and distinct aggregates are as the user wrote them), and the rest of Spark's
    * optimizer will not look into this subquery. So it is optimized as Spark optimizes each subquery.
    */
  def subquery(row: LogicalPlan): ScalarSubquery = {
    val optimizer = SparkSession.active.sessionState.optimizer
    ScalarSubquery(optimizer.execute(Subquery(row, correlated = false)) match {
      case Subquery(plan, _) => plan
      case plan => plan
    })
  }
}
