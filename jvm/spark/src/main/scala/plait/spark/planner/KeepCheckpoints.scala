// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.{SparkSession, classic}

import plait.spark.plan.{PlaitJoinHint, StreamJoinCarrier}
import plait.spark.stream.StreamSymmetricHashJoinExec

/** A query goes on with the join that its checkpoint was made with, whatever is set: neither of the two can
  * read what the other has stored.
  *
  * {{{
  * state/0/_metadata   "operatorName":"symmetricHashJoin"           Spark's joins stay Spark's
  *                     "operatorName":"plaitSymmetricHashJoin"      ours stay ours, if Plait is turned off, too
  * state/0/0/left-keyToNumValues                                    Spark's, of a version without metadata
  * }}}
  */
final class KeepCheckpoints(session: SparkSession) extends Rule[LogicalPlan] with Logging {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStream if hasJoinOfStreams(write.inputQuery) =>
      val names = operators(write.resolvedCheckpointLocation)
      if (areSparks(names)) {
        logWarning(
          s"The checkpoint ${write.resolvedCheckpointLocation} was made with Spark's own join of streams, so the query " +
            "goes on with that. A new checkpoint would be one of Plait's join."
        )
        write.copy(inputQuery = left(write.inputQuery))
      } else if (areOurs(names))
        write.copy(inputQuery = taken(write.inputQuery))
      else write
    // Spark refuses some of them where it resolves this, which is before anything else that comes here.
    case statement: WriteToStreamStatement
        if hasJoinOfStreams(statement.inputQuery) && statement.userSpecifiedCheckpointLocation
          .exists(location => areOurs(operators(location))) =>
      statement.copy(inputQuery = taken(statement.inputQuery))
    case other => other
  }

  // Where some joins are Spark's and others ours, hints say which, and said so at the first start.
  private def areOurs(names: Set[String]): Boolean =
    names(StreamSymmetricHashJoinExec.OperatorName) && !names(KeepCheckpoints.SparksJoin)
  private def areSparks(names: Set[String]): Boolean =
    names(KeepCheckpoints.SparksJoin) && !names(StreamSymmetricHashJoinExec.OperatorName)

  private def hasJoinOfStreams(plan: LogicalPlan) = plan.exists {
    case join: Join => StreamJoins.isOfStreams(join)
    case _ => false
  }

  private def left(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case carrier: StreamJoinCarrier =>
          StreamJoins.hinted(CarryWindows.forgotten(carrier.join), PlaitJoinHint.NO_SYMMETRIC_HASH)
        case join: Join if StreamJoins.isOfStreams(join) =>
          StreamJoins.hinted(CarryWindows.forgotten(join), PlaitJoinHint.NO_SYMMETRIC_HASH)
      }
    }

  /** Their carriers, which are made before anything is known of a checkpoint, may be missing still. */
  private def taken(plan: LogicalPlan): LogicalPlan = CarryWindows.all(
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformDown {
        case carrier @ StreamJoinCarrier(join: Join, _) =>
          carrier.copy(child = StreamJoins.hinted(join, PlaitJoinHint.SYMMETRIC_HASH))
        case join: Join if StreamJoins.isOfStreams(join) && !isHinted(join) =>
          StreamJoins.hinted(join, PlaitJoinHint.SYMMETRIC_HASH)
      }
    }
  )

  private def isHinted(join: Join) =
    join.hint.leftHint.exists(_.strategy.contains(PlaitJoinHint.SYMMETRIC_HASH))

  /** The names of the operators that have state there; none of a checkpoint that is new. */
  private def operators(checkpoint: String): Set[String] = {
    val conf: Configuration =
      session.asInstanceOf[classic.SparkSession].sessionState.newHadoopConf()
    val state = new Path(checkpoint, "state")
    val files = state.getFileSystem(conf)
    if (!files.exists(state)) Set.empty
    else
      files
        .listStatus(state)
        .filter(_.getPath.getName.forall(_.isDigit))
        .flatMap(operator => namesOf(files, operator.getPath))
        .toSet
  }

  /** Before Spark 4.0 there was no metadata; its join has folders of these names in each partition. */
  private def namesOf(files: FileSystem, operator: Path): Seq[String] = {
    val said = metadata(files, new Path(operator, "_metadata"))
    val isOld = said.isEmpty && files.exists(new Path(operator, KeepCheckpoints.SparksStore))
    if (isOld) Seq(KeepCheckpoints.SparksJoin) else said
  }

  private def metadata(files: FileSystem, folder: Path): Seq[String] =
    if (!files.exists(folder)) Nil
    else {
      val found = files.listFiles(folder, true)
      Iterator
        .continually(found)
        .takeWhile(_.hasNext)
        .map(_.next().getPath)
        .filterNot(_.getName.startsWith("."))
        .flatMap(path => KeepCheckpoints.Name.findAllMatchIn(text(files, path)).map(_.group(1)))
        .toList
    }

  private def text(files: FileSystem, path: Path): String =
    Using.resource(new BufferedReader(new InputStreamReader(files.open(path), UTF_8))) {
      _.lines().iterator.asScala.mkString
    }
}

object KeepCheckpoints {
  private val SparksJoin = "symmetricHashJoin"
  private val SparksStore = "0/left-keyToNumValues"
  private val Name = "\"operatorName\"\\s*:\\s*\"([^\"]*)\"".r
}
