// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import scala.collection.mutable
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}

import plait.spark.translate.{FileSeen, FilesSeen, WhileFilesStand}
import plait.{BySide, Side}

/** Decides, before a join starts, whether its reaches are those that the footers of files narrow.
  *
  * {{{
  * planned over a.parquet, b.parquet        read   a.parquet, b.parquet, as they were       narrow
  *                                                 a.parquet alone, b is pruned             narrow
  *                                                 a.parquet, b.parquet written anew        wide
  *                                                 a.parquet, c.parquet                     wide
  *                                                 a scan that is not found                 wide
  * }}}
  *
  * The files are those that the very scans below will read, asked of the file system once more. Not promised:
  * what becomes of a file that is written anew while it is read, where Spark promises nothing either, or that has been
  * given the length and the time of the one before.
  */
object FilesStand extends AdaptiveSparkPlanHelper with Logging {

  /** What is computed for the rows of each side, with one of its two sides in place of what hangs on files:
    * for both sides the same way, since a pair is found from either.
    */
  def decided(
      ranks: BySide[Seq[Expression]],
      inputs: BySide[SparkPlan]
  ): BySide[Seq[Expression]] = {
    val relations = Side.both
      .flatMap(ranks(_))
      .flatMap(_.collect { case w: WhileFilesStand =>
        w.relations
      })
    if (relations.isEmpty) ranks
    else {
      val hadoop = new HadoopOf
      val changed = relations.flatten.distinct.filterNot(stands(_, inputs, hadoop))
      changed.foreach { relation =>
        val paths = relation.location.rootPaths.mkString(", ")
        logInfo(
          s"The files of $paths are not those that a join was planned by: their footers are not used"
        )
      }
      ranks.map(_.map(_.transform { case w: WhileFilesStand =>
        if (changed.isEmpty) w.narrow else w.wide
      }))
    }
  }

  private def stands(relation: FilesSeen, inputs: BySide[SparkPlan], hadoop: HadoopOf): Boolean = {
    val scans =
      Side.both.map(inputs(_)).flatMap(scansOf).filter(_.relation.location == relation.location)
    val known = relation.files.map(file => file.path -> file).toMap
    def isKnown(path: Path): Boolean = known
      .get(path.toString)
      .exists(seen =>
        Try(FileSeen.now(path, hadoop(scans.head, relation.options))).toOption.contains(seen)
      )
    scans.nonEmpty && scans.flatMap(pathsOf).distinct.forall(isKnown)
  }

  /** A configuration is large, and made once for all relations with the same options. */
  final private class HadoopOf {
    private val made = mutable.Map.empty[Map[String, String], Configuration]

    def apply(scan: FileSourceScanExec, options: Map[String, String]): Configuration =
      made.getOrElseUpdate(options, scan.session.sessionState.newHadoopConfWithOptions(options))
  }

  private def pathsOf(scan: FileSourceScanExec): Seq[Path] =
    scan.selectedPartitions.filePartitionIterator.flatMap(_.files.map(_.getPath)).toSeq.distinct

  /** Also of stages that have run, and of those that another part of the query has made. */
  private def scansOf(plan: SparkPlan): Seq[FileSourceScanExec] = collect(plan) {
    case scan: FileSourceScanExec => Seq(scan)
    case ReusedExchangeExec(_, made) => scansOf(made)
  }.flatten
}
