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
import org.apache.spark.sql.catalyst.plans.{Cross, Inner}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SparkSession, classic}

import plait.spark.PlaitConf
import plait.spark.plan.{
  AsOfJoin,
  ClauseError,
  JoinsOfCheckpoint,
  PlaitJoinHint,
  StreamAsOfCarrier,
  StreamJoinCarrier
}
import plait.spark.stream.StreamSymmetricHashJoinExec

/** A query goes on with the join that its checkpoint was made with, whatever is set: neither of the two can
  * read what the other has stored.
  *
  * {{{
  * state/0/_metadata   "operatorName":"symmetricHashJoin"           Spark's joins stay Spark's
  *                     "operatorName":"plaitSymmetricHashJoin"      ours stay ours, if Plait is turned off, too
  * state/0/0/left-keyToNumValues                                    Spark's, of a version without metadata
  *
  * state/0 of Spark's join, state/1 of ours:
  *   a JOIN b ... JOIN c ... with NO_SYMMETRIC_HASH(a, b)           a JOIN b stays Spark's, the other is ours
  *                           with SYMMETRIC_HASH(a, b)              a JOIN b stays ours, the other is Spark's
  *                           with neither                           refused: nothing says which is which
  *   a ASOF JOIN b ... JOIN c ... with neither                      as-of joins are always ours, the other is Spark's
  * }}}
  */
final class KeepCheckpoints(session: SparkSession) extends Rule[LogicalPlan] with Logging {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStream if isOpen(write.inputQuery) =>
      val names = operators(write.resolvedCheckpointLocation)
      if (isOf(names, KeepCheckpoints.SparksJoin)) {
        logWarning(
          s"The checkpoint ${write.resolvedCheckpointLocation} was made with Spark's own join of streams, so the query " +
            "goes on with that. A new checkpoint would be one of Plait's join."
        )
        write.copy(inputQuery = left(write.inputQuery)(_ => true))
      } else write.copy(inputQuery = withOurs(write.inputQuery, names))
    // Spark refuses some of them where it resolves this, which is before anything else that comes here.
    case statement: WriteToStreamStatement if isOpen(statement.inputQuery) =>
      val names = statement.userSpecifiedCheckpointLocation.fold(Set.empty[String])(operators)
      statement.copy(inputQuery = withOurs(statement.inputQuery, names))
    case other => other
  }

  /** The query, whose checkpoint has operators of these names, with what is ours. */
  private def withOurs(query: LogicalPlan, names: Set[String]): LogicalPlan =
    if (!names(StreamSymmetricHashJoinExec.OperatorName)) query
    else if (isOf(names, StreamSymmetricHashJoinExec.OperatorName)) {
      if (isHinted(query, PlaitJoinHint.NO_SYMMETRIC_HASH))
        logWarning(
          "The checkpoint of this query was made with Plait's join of streams, so it goes on with that in spite of the hint " +
            "NO_SYMMETRIC_HASH. A new checkpoint would be one of Spark's own join."
        )
      taken(query)(_ => true)
    } else asHinted(query)

  private def isOf(names: Set[String], join: String): Boolean =
    names.intersect(KeepCheckpoints.Joins) == Set(join)

  /** Where some joins are Spark's and others ours, hints say which, and said so at the first start: then the setting
    * was the other way round for those without one, whatever it is now.
    */
  private def asHinted(query: LogicalPlan): LogicalPlan =
    (
      isHinted(query, PlaitJoinHint.SYMMETRIC_HASH),
      isHinted(query, PlaitJoinHint.NO_SYMMETRIC_HASH)
    ) match {
      case (false, false) if hasAsOf(query) => left(query)(_ => true)
      case (true, true) => query
      case (true, false) => left(query)(!StreamJoins.isAsked(_, PlaitJoinHint.SYMMETRIC_HASH))
      case (false, true) => taken(query)(!StreamJoins.isAsked(_, PlaitJoinHint.NO_SYMMETRIC_HASH))
      case (false, false) =>
        throw ClauseError(
          "The checkpoint of this query has joins of streams of both Spark's own and Plait's, and no hint says which of the " +
            s"query's joins are Spark's: ${remedy(PlaitConf(SQLConf.get))}, or start the query with a new checkpoint.",
          query.origin
        )
    }

  private def isHinted(query: LogicalPlan, hint: PlaitJoinHint) = query.exists {
    case join: Join => StreamJoins.isOfStreams(join) && StreamJoins.isAsked(join, hint)
    case _ => false
  }

  private def hasAsOf(query: LogicalPlan) = query.exists {
    case _: StreamAsOfCarrier => true
    case join: AsOfJoin => StreamAsOf.isTaken(join)
    case _ => false
  }

  private def remedy(conf: PlaitConf): String =
    if (conf.enabled) "give them the hint NO_SYMMETRIC_HASH that they had"
    else
      s"Plait's hints are not seen while ${PlaitConf.Enabled} is false. Set it to true where the query is made"

  /** A statement comes by here, and then what it starts: by then it may be said, and joins have the hints that follow. */
  private def isOpen(query: LogicalPlan) = query match {
    case _: JoinsOfCheckpoint => false
    case _ =>
      query.exists {
        case join: Join => StreamJoins.isOfStreams(join)
        case _ => false
      }
  }

  private def left(plan: LogicalPlan)(isSparks: Join => Boolean): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val query = plan.transformUp {
        case carrier: StreamJoinCarrier if isSparks(carrier.join) => sparks(carrier.join)
        case join: Join if StreamJoins.isOfStreams(join) && isSparks(join) => sparks(join)
      }
      JoinsOfCheckpoint(query, PlaitJoinHint.CHECKPOINT_OF_SPARK)
    }

  /** What a hint leaves to Spark anyway is said to be left for that. */
  private def sparks(join: Join): Join =
    StreamJoins.without(CarryWindows.forgotten(join), PlaitJoinHint.SYMMETRIC_HASH)

  /** Their carriers, which are made before anything is known of a checkpoint, may be missing still. */
  private def taken(plan: LogicalPlan)(isOurs: Join => Boolean): LogicalPlan = {
    val hinted = AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformDown {
        case carrier @ StreamJoinCarrier(join: Join, _) if isOurs(join) =>
          carrier.copy(child = ours(join))
        case join: Join if StreamJoins.isOfStreams(join) && isOurs(join) && !isTakenAlready(join) =>
          join.joinType match {
            // The optimizer orders those without a hint, as it did at first.
            case Inner | Cross => StreamJoins.without(join, PlaitJoinHint.NO_SYMMETRIC_HASH)
            case _ => ours(join)
          }
      }
    }
    CarryWindows(JoinsOfCheckpoint(hinted, PlaitJoinHint.SYMMETRIC_HASH))
  }

  private def ours(join: Join): Join = StreamJoins.hinted(
    StreamJoins.without(join, PlaitJoinHint.NO_SYMMETRIC_HASH),
    PlaitJoinHint.SYMMETRIC_HASH
  )

  private def isTakenAlready(join: Join) =
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
  private val Joins = Set(SparksJoin, StreamSymmetricHashJoinExec.OperatorName)
  private val SparksStore = "0/left-keyToNumValues"
  private val Name = "\"operatorName\"\\s*:\\s*\"([^\"]*)\"".r
}
