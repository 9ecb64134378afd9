// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import scala.util.Try

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.plans.logical.{
  Range,
  RebalancePartitions,
  Repartition,
  RepartitionByExpression
}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.command.SetCommand

/** Into how many partitions a client may cut its query: Spark's driver has an object for each task of a stage
  * before the first one runs, so a number alone can take it down.
  *
  * {{{
  * SELECT * FROM range(0, 1, 1, 200000000)                    refused
  * SELECT /*+ REPARTITION(200000000) */ * FROM t              refused
  * SET spark.sql.shuffle.partitions = 100000                  allowed
  * SET spark.sql.files.maxPartitionBytes = 1                  refused
  * }}}
  *
  *   1. The bound is [[PartitionRule.Most]], for every number that a statement or a setting can say.
  *   1. Of a setting that says how large a partition is, the least is [[PartitionRule.LeastBytes]].
  *   1. What is no number is Spark's to refuse.
  *
  * Not promised: how many partitions the files of a table give, and what several relations give together.
  */
private[guard] object PartitionRule extends Rule {

  /** Partitions that one statement or setting may ask for. */
  val Most = 100000

  /** Bytes of a partition of files. */
  val LeastBytes: Long = 1L << 20

  override def check(value: Any, at: Origin): Unit = value match {
    case range: Range => checkCount(range.numSlices.map(_.toLong), at)
    case hint: Repartition => checkCount(Some(hint.numPartitions.toLong), at)
    case hint: RepartitionByExpression => checkCount(hint.optNumPartitions.map(_.toLong), at)
    case hint: RebalancePartitions => checkCount(hint.optNumPartitions.map(_.toLong), at)
    case SetCommand(Some((key, Some(text)))) => checkSetting(key, text.trim, at)
    case _ =>
  }

  private def checkSetting(key: String, text: String, at: Origin): Unit =
    if (Counts.contains(key)) checkCount(text.toLongOption, at)
    else if (Sizes.contains(key) && Try(JavaUtils.byteStringAsBytes(text)).toOption.exists(isSmall))
      refuse(
        StatementRefused.Partitions,
        s"The setting $key is $text, which would cut files into too many partitions. It is at least $LeastBytes bytes.",
        at
      )

  private def isSmall(bytes: Long): Boolean = bytes < LeastBytes

  private def checkCount(partitions: Option[Long], at: Origin): Unit =
    partitions.filter(_ > Most).foreach { many =>
      refuse(
        StatementRefused.Partitions,
        s"The statement asks for $many partitions, and a client may ask for $Most at most. Ask for fewer.",
        at
      )
    }

  private val Counts = Set(
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum",
    "spark.sql.files.maxPartitionNum",
    "spark.sql.files.minPartitionNum",
    "spark.sql.leafNodeDefaultParallelism",
    "spark.sql.shuffle.partitions"
  )

  private val Sizes = Set("spark.sql.files.maxPartitionBytes")
}
