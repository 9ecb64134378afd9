// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import plait.spark.{JoinStrategyChoice, PlaitConf, WholeText}

/** What was set of who runs joins when a checkpoint was made. With the hints of the query it says which of its joins are ours:
  *
  * {{{
  * state/1/_plait/strategy     never
  *   /*+ NO_SYMMETRIC_HASH(a, b) */ ... a JOIN b ... JOIN d ... ASOF JOIN c      the as-of join alone is ours
  * }}}
  *
  * Each operator of ours has it, since the version that began to write it.
  */
object StrategyAtStart {

  /** `spark.plait.enabled=false`: no hint took a join either. */
  val Off = "off"

  def of(conf: PlaitConf): String = if (conf.enabled) conf.joinStrategy.name else Off

  /** @param folder what the operator has beside its state */
  def write(folder: Path, files: CheckpointFileManager, strategy: String): Unit =
    WholeText.replaced(files, new Path(folder, Name), strategy)

  /** @param operator the folder of an operator's state; one of Spark's has none */
  def read(operator: Path, files: FileSystem): Option[String] = {
    val file = new Path(operator, s"_plait/$Name")
    Option.when(files.exists(file))(WholeText.read(files.open(file)).trim)
  }

  def isOfPlait(strategy: String): Boolean =
    strategy != Off && strategy != JoinStrategyChoice.Never.name

  private val Name = "strategy"
}
