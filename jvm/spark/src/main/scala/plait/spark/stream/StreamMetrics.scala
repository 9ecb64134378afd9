// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  StatefulOperatorCustomMetric,
  StatefulOperatorCustomSumMetric
}

import plait.Side
import plait.spark.side.{JoinMetrics, PeakMetric}

/** What a join of streams counts in a batch, a side; Spark shows it in the progress of the query and in its
  * UI.
  *
  * {{{
  * leftRowsIn             left rows of the batch that were in time
  * leftRowsLate           left rows that came behind their watermark
  * leftRowsOutOfOrder     left rows that came behind their frontier by a declared order
  * leftRowsDropped        of both those that were left out
  * leftRowsStored         left rows that wait after the batch
  * leftRowsPruned         left rows proved dead in the batch, waiting or just come
  * leftRowsEvicted        left rows that were forgotten in the batch though they might still match
  * pairsByProbingLeft     matches found by looking for a right row's partners on the left
  * leftFrontier           no later left row has a lower rank: the order as a number, microseconds of a time
  * leftBound              no left row that waits has a lower rank, by what the right frontier says
  * leftBytesStored        what the left rows that wait take
  * leftSegments           pieces in which the left rows lie
  * leftLargestKey         the most left rows of one key that came with the batch or were looked at
  * leftNewest             the greatest rank of the left rows of the batch, as a number
  * leftBatchLag           how far the newest left row of the batch is ahead of the left frontier
  *
  * of an as-of join
  * leftRowsAnswered       left rows that picked a row or found none
  * rightRowsLookedAt      right rows that they could pick
  * }}}
  */
object StreamMetrics {
  def rowsIn(side: Side): String = s"${side.name}RowsIn"
  def rowsLate(side: Side): String = s"${side.name}RowsLate"
  def rowsOutOfOrder(side: Side): String = s"${side.name}RowsOutOfOrder"
  def rowsDropped(side: Side): String = s"${side.name}RowsDropped"
  def rowsStored(side: Side): String = s"${side.name}RowsStored"
  def rowsPruned(side: Side): String = s"${side.name}RowsPruned"
  def rowsEvicted(side: Side): String = s"${side.name}RowsEvicted"
  def largestKey(side: Side): String = s"${side.name}LargestKey"
  def newest(side: Side): String = s"${side.name}Newest"
  def lag(side: Side): String = s"${side.name}BatchLag"
  def pairsByProbing(side: Side): String = s"pairsByProbing${side.name.capitalize}"
  def frontier(side: Side): String = s"${side.name}Frontier"
  def bound(side: Side): String = s"${side.name}Bound"
  def bytesStored(side: Side): String = s"${side.name}BytesStored"
  def segments(side: Side): String = s"${side.name}Segments"

  val Answered: String = "leftRowsAnswered"
  val Candidates: String = "rightRowsLookedAt"
  private val Kept = "rowsKeptAtPeak"
  private val Sorted = "timeToSort"

  /** What an as-of join counts besides. */
  val ofAsOf: Seq[StatefulOperatorCustomMetric] = Seq(
    StatefulOperatorCustomSumMetric(Answered, "left rows answered"),
    StatefulOperatorCustomSumMetric(Candidates, "right rows looked at"),
    StatefulOperatorCustomSumMetric(Sorted, "sort time"),
    Peak(Kept, "rows kept at peak")
  )

  /** For the as-of join of the rows that are answered in a batch. */
  def ofAnswers(metrics: Map[String, SQLMetric]): Map[String, SQLMetric] = metrics ++ Map(
    JoinMetrics.rowsIn(Side.Left) -> metrics(Answered),
    JoinMetrics.rowsIn(Side.Right) -> metrics(Candidates),
    JoinMetrics.PeakBuffered -> metrics(Kept),
    JoinMetrics.SortTime -> metrics(Sorted)
  )

  val all: Seq[StatefulOperatorCustomMetric] = sums ++ peaks :+ SpillSize

  private def peaks: Seq[StatefulOperatorCustomMetric] = Side.both.flatMap { side =>
    Seq(
      Peak(largestKey(side), s"${side.name} rows of the largest key"),
      Peak(newest(side), s"${side.name} newest row"),
      Peak(lag(side), s"${side.name} lag")
    )
  }

  private def sums: Seq[StatefulOperatorCustomMetric] = Side.both.flatMap { side =>
    Seq(
      rowsIn(side) -> s"${side.name} rows in",
      rowsLate(side) -> s"${side.name} rows late",
      rowsOutOfOrder(side) -> s"${side.name} rows out of order",
      rowsDropped(side) -> s"${side.name} rows dropped",
      rowsStored(side) -> s"${side.name} rows stored",
      rowsPruned(side) -> s"${side.name} rows pruned",
      rowsEvicted(side) -> s"${side.name} rows evicted",
      pairsByProbing(side) -> s"pairs found by probing ${side.name}",
      frontier(side) -> s"${side.name} frontier",
      bound(side) -> s"${side.name} bound",
      bytesStored(side) -> s"${side.name} bytes stored",
      segments(side) -> s"${side.name} segments"
    ).map { case (name, text) => StatefulOperatorCustomSumMetric(name, text) }
  }

  final private case class Peak(name: String, desc: String) extends StatefulOperatorCustomMetric {
    def createSQLMetric(context: SparkContext): SQLMetric = PeakMetric.create(context, desc)
  }

  private object SpillSize extends StatefulOperatorCustomMetric {
    val name: String = JoinMetrics.SpillSize
    val desc: String = "spill size"
    def createSQLMetric(context: SparkContext): SQLMetric =
      SQLMetrics.createSizeMetric(context, desc)
  }
}
