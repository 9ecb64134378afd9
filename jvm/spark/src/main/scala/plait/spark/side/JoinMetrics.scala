// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.util.AccumulatorV2

import plait.Side

/** The counters of a join node, as Spark's SQL metrics: their names and what they mean.
  *
  * {{{
  * leftRowsIn             rows read of the left side
  * leftPeakBuffered       the most left rows that one task held at once
  * leftRowsPruned         left rows proved dead before the right side had ended
  * pairsByProbingLeft     matches found by looking for a right row's partners on the left
  * peakBuffered           the most rows of both sides together that one task held at once
  * numOutputRows          rows that came out: of an inner join the sum of both
  * sortTime               time that sorting took, where the join sorts its inputs itself
  * rowsInBuckets          rows that were joined bucket by bucket and not sorted, as a key has few of them
  * rowsByKey              rows of sides that come by key, joined key by key as they came
  * spillSize              bytes that it wrote to disk: of its inputs while sorting, and of rows held
  *
  * of a join with a collected side
  * collectedRows          rows of the collected side that have a key and an interval; 0 as long as there is no index
  * probes                 rows of the other side that looked some up
  * candidates             rows that they were given, for which the condition was evaluated
  * rowsPerKey             where that was counted to see if an index pays: with how many collected rows one shares its
  *                        key; of so few that it does not the other three are not counted
  * }}}
  */
object JoinMetrics {
  def rowsIn(side: Side): String = s"${side.name}RowsIn"
  def peakBuffered(side: Side): String = s"${side.name}PeakBuffered"
  def rowsPruned(side: Side): String = s"${side.name}RowsPruned"
  def pairsByProbing(side: Side): String = s"pairsByProbing${side.name.capitalize}"
  val PeakBuffered: String = "peakBuffered"
  val OutputRows: String = "numOutputRows"
  val SortTime: String = "sortTime"
  val SpillSize: String = "spillSize"
  val RowsInBuckets: String = "rowsInBuckets"
  val RowsByKey: String = "rowsByKey"
  val CollectedRows: String = "collectedRows"
  val Probes: String = "probes"
  val Candidates: String = "candidates"
  val RowsPerKey: String = "rowsPerKey"

  def ofCollected(context: SparkContext): Map[String, SQLMetric] = Map(
    OutputRows -> SQLMetrics.createMetric(context, "number of output rows"),
    CollectedRows -> PeakMetric.create(context, "rows collected"),
    Probes -> SQLMetrics.createMetric(context, "rows looked up for"),
    Candidates -> SQLMetrics.createMetric(context, "rows looked at")
  )

  def ofCounted(context: SparkContext): Map[String, SQLMetric] =
    Map(RowsPerKey -> PeakMetric.create(context, "rows that share a key"))

  def ofAsOf(context: SparkContext): Map[String, SQLMetric] = Map(
    rowsIn(Side.Left) -> SQLMetrics.createMetric(context, "left rows in"),
    rowsIn(Side.Right) -> SQLMetrics.createMetric(context, "right rows in"),
    PeakBuffered -> PeakMetric.create(context, "rows kept at peak"),
    OutputRows -> SQLMetrics.createMetric(context, "number of output rows"),
    SortTime -> SQLMetrics.createTimingMetric(context, "sort time"),
    SpillSize -> SQLMetrics.createSizeMetric(context, "spill size")
  )

  /** The largest of all values that a metric of [[PeakMetric]]'s is told. */
  def note(metric: SQLMetric, value: Long): Unit = metric.asInstanceOf[PeakMetric].note(value)

  def create(context: SparkContext): Map[String, SQLMetric] = {
    def sum(label: String): SQLMetric = SQLMetrics.createMetric(context, label)
    val sides = Side.both.flatMap { side =>
      Seq(
        rowsIn(side) -> sum(s"${side.name} rows in"),
        peakBuffered(side) -> PeakMetric.create(context, s"${side.name} rows buffered at peak"),
        rowsPruned(side) -> sum(s"${side.name} rows pruned"),
        pairsByProbing(side) -> sum(s"pairs found by probing ${side.name}")
      )
    }
    (sides ++ Seq(
      PeakBuffered -> PeakMetric.create(context, "rows buffered at peak"),
      OutputRows -> sum("number of output rows"),
      RowsInBuckets -> sum("rows joined by bucket"),
      RowsByKey -> sum("rows joined by key as they came"),
      SortTime -> SQLMetrics.createTimingMetric(context, "sort time"),
      SpillSize -> SQLMetrics.createSizeMetric(context, "spill size")
    )).toMap
  }
}

/** The largest value of all tasks, where Spark's own metrics would add them up.
  *
  * Shown as minimum, median and maximum over tasks. Spark stores such a metric tenfold, to show a
  * decimal; [[peak]] is the number itself.
  */
final class PeakMetric extends SQLMetric("average", -1L) {
  private var largest = -1L

  def note(value: Long): Unit = if (value > largest) {
    largest = value
    set(math.min(value, Long.MaxValue / PeakMetric.Scale) * PeakMetric.Scale)
  }

  def peak: Long = value / PeakMetric.Scale

  override def copy(): PeakMetric = {
    val same = new PeakMetric
    if (!isZero) same.note(peak)
    same
  }

  override def reset(): Unit = {
    super.reset()
    largest = -1L
  }

  override def merge(other: AccumulatorV2[Long, Long]): Unit = other match {
    case task: PeakMetric => if (!task.isZero) note(task.peak)
    case _ => super.merge(other)
  }
}

object PeakMetric {
  private val Scale = 10L

  def create(context: SparkContext, label: String): PeakMetric = {
    val metric = new PeakMetric
    context.register(metric, label)
    metric
  }

  /** What a metric says, whichever kind it is. */
  def valueOf(metric: SQLMetric): Long = metric match {
    case peak: PeakMetric => peak.peak
    case other => other.value
  }
}
