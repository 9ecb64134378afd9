// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SparkSession, classic}

import plait.spark.plan.{ClauseError, JoinsOfCheckpoint, PlaitJoinHint, StreamAsOfCarrier}
import plait.spark.stream.{StrategyAtStart, StreamSymmetricHashJoinExec}
import plait.spark.{PlaitConf, WholeText}

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
  *                           with both                              others as it was set at the first start, if
  *                                                                  that is written there, else as it is set now
  *                           with neither                           refused: nothing says which is which
  *   a ASOF JOIN b ... JOIN c ... with neither                      as-of joins are always ours, the other is Spark's
  * }}}
  */
final class KeepCheckpoints(session: SparkSession) extends Rule[LogicalPlan] with Logging {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case statement: WriteToStreamStatement if isUndecided(statement.inputQuery) =>
      checkpoint(statement).fold(plan)(at =>
        statement.copy(inputQuery = kept(statement.inputQuery, at))
      )
    case other => other
  }

  /** As Spark has it. It makes a new one where neither is given. */
  private def checkpoint(statement: WriteToStreamStatement): Option[String] =
    statement.userSpecifiedCheckpointLocation.orElse(for {
      root <- SQLConf.get.checkpointLocation
      name <- statement.userSpecifiedName
    } yield new Path(root, name).toString)

  private def kept(query: LogicalPlan, checkpoint: String): LogicalPlan = {
    val operators = this.operators(checkpoint)
    operators.flatMap(_.names).toSet.intersect(KeepCheckpoints.Joins).toSeq match {
      case Seq() => query
      case Seq(KeepCheckpoints.SparksJoin) =>
        logWarning(
          s"The checkpoint $checkpoint was made with Spark's own join of streams, so the query goes on with that. A new " +
            "checkpoint would be one of Plait's join."
        )
        JoinsOfCheckpoint(
          StreamJoins.without(query, PlaitJoinHint.SYMMETRIC_HASH),
          PlaitJoinHint.CHECKPOINT_OF_SPARK
        )
      case Seq(_) =>
        if (isHinted(query, PlaitJoinHint.NO_SYMMETRIC_HASH))
          logWarning(
            "The checkpoint of this query was made with Plait's join of streams, so it goes on with that in spite of the hint " +
              "NO_SYMMETRIC_HASH. A new checkpoint would be one of Spark's own join."
          )
        JoinsOfCheckpoint(
          StreamJoins.without(query, PlaitJoinHint.NO_SYMMETRIC_HASH),
          PlaitJoinHint.SYMMETRIC_HASH
        )
      case _ => ofBoth(query, operators.flatMap(_.strategy).headOption)
    }
  }

  /** Where some joins are Spark's and others ours, hints say which, and what was set said it of those without one.
    * @param strategy
    *   what was set; of a checkpoint that does not say it, it follows from hints of one kind: the other way round
    */
  private def ofBoth(query: LogicalPlan, strategy: Option[String]): LogicalPlan = {
    val isAsked = isHinted(query, PlaitJoinHint.SYMMETRIC_HASH)
    val isLeft = isHinted(query, PlaitJoinHint.NO_SYMMETRIC_HASH)
    def ours = JoinsOfCheckpoint(query, PlaitJoinHint.SYMMETRIC_HASH)
    def sparks = JoinsOfCheckpoint(query, PlaitJoinHint.CHECKPOINT_OF_SPARK)
    strategy match {
      case Some(StrategyAtStart.Off) =>
        sparks.copy(child = StreamJoins.without(query, PlaitJoinHint.SYMMETRIC_HASH))
      case Some(set) if StrategyAtStart.isOfPlait(set) && isLeft => ours
      case Some(set) if !StrategyAtStart.isOfPlait(set) && (isAsked || hasAsOf(query)) => sparks
      case None if isAsked && isLeft => query
      case None if isLeft => ours
      case None if isAsked || hasAsOf(query) => sparks
      case _ =>
        throw ClauseError(
          "The checkpoint of this query has joins of streams of both Spark's own and Plait's, and no hint says which of the " +
            s"query's joins are Spark's: ${remedy(PlaitConf(SQLConf.get))}, or start the query with a new checkpoint.",
          query.origin
        )
    }
  }

  private def isHinted(query: LogicalPlan, hint: PlaitJoinHint): Boolean = query match {
    // It is ours whatever the hints of its sides say.
    case carrier: StreamAsOfCarrier => carrier.child.children.exists(isHinted(_, hint))
    case join: Join if StreamJoins.isOfStreams(join) && StreamJoins.isAsked(join, hint) => true
    case other => other.children.exists(isHinted(_, hint))
  }

  private def hasAsOf(query: LogicalPlan) = query.exists {
    case _: StreamAsOfCarrier => true
    case _ => false
  }

  private def remedy(conf: PlaitConf): String =
    if (conf.enabled) "give them the hints that they had"
    else
      s"Plait's hints are not seen while ${PlaitConf.Enabled} is false. Set it to true where the query is made"

  /** Nothing is said of it yet. */
  private def isUndecided(query: LogicalPlan) = query match {
    case _: JoinsOfCheckpoint => false
    case _ =>
      query.exists {
        case join: Join => StreamJoins.isOfStreams(join)
        case _ => false
      }
  }

  /** Those that have state there; none of a checkpoint that is new. */
  private def operators(checkpoint: String): Seq[KeepCheckpoints.Operator] = {
    val conf: Configuration =
      session.asInstanceOf[classic.SparkSession].sessionState.newHadoopConf()
    val state = new Path(checkpoint, "state")
    val files = state.getFileSystem(conf)
    if (!files.exists(state)) Nil
    else
      files
        .listStatus(state)
        .filter(_.getPath.getName.forall(_.isDigit))
        .map(_.getPath)
        .sortBy(_.getName.toInt)
        .map(at => KeepCheckpoints.Operator(namesOf(files, at), StrategyAtStart.read(at, files)))
        .toSeq
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
        .flatMap(path =>
          KeepCheckpoints.Name.findAllMatchIn(WholeText.read(files.open(path))).map(_.group(1))
        )
        .toList
    }
}

object KeepCheckpoints {
  final private case class Operator(names: Seq[String], strategy: Option[String])

  private val SparksJoin = "symmetricHashJoin"
  private val Joins = Set(SparksJoin, StreamSymmetricHashJoinExec.OperatorName)
  private val SparksStore = "0/left-keyToNumValues"
  private val Name = "\"operatorName\"\\s*:\\s*\"([^\"]*)\"".r
}
