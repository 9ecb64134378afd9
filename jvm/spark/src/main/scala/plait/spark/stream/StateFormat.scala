// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  Expression,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.util.quoteIfNeeded
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.columnar.InMemoryTableScanLike
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.internal.SQLConf

import plait.spark.{PlaitConf, WholeText}
import plait.{BySide, Side}

/** What the state of a join was written by: Spark's check of schemas knows columns, but the rows that wait
  * are kept by key and with rank and end of their reach, which follow from the condition.
  *
  * {{{
  * state/0/_plait/format
  *   format 4
  *   join LEFT OUTER
  *   left columns id, k, ts
  *   right columns ...
  *   left key left1; rank order_value(left0); ...
  *   condition (left2 < right2) AND (left3 > right3)   its parts in alphabetical order
  *   spark.sql.session.timeZone Europe/Berlin          where columns or condition follow from it
  * }}}
  *
  * A query that goes on with another condition is refused: rows that wait would leave too early. So is one
  * with other columns: those of one type are told apart by nothing but their names, and a row that waits would
  * give its old `a` as the new `b`.
  */
object StateFormat extends PredicateHelper {
  def check(join: StreamSymmetricHashJoinExec, conf: Configuration): Unit = {
    val info = join.getStateInfo
    val operator = new Path(info.checkpointLocation, info.operatorId.toString)
    val folder = new Path(operator, "_plait")
    val files = CheckpointFileManager.create(folder, conf)
    val file = new Path(folder, "format")
    val now = lines(join)(sorted)
    if (!files.exists(folder)) files.mkdirs(folder)
    // What a start that failed has left counts for nothing: Spark writes its own of the operator after this.
    if (!files.exists(new Path(operator, "_metadata")))
      StrategyAtStart.write(folder, files, StrategyAtStart.of(PlaitConf(SQLConf.get)))
    if (!files.exists(file)) WholeText.replaced(files, file, now.mkString("", "\n", "\n"))
    else {
      val before = WholeText.lines(files.open(file))
      // Rows that another version has stored cannot be read, whatever the query is.
      for (found <- before.headOption.flatMap(versionOf) if found != StateLayout.Version)
        throw StateFormatException.ofVersion(found)
      // At first the parts of a condition were written as they stood in the query.
      val known = Seq(now, lines(join)(asWritten))
      val settings =
        new SettingsUsed(own(join) ++ ofStreams(join), expressions(join), readsCache(join))
      if (!known.exists(settings.areSame(before, _)))
        throw new StateFormatException(
          ChangedQuery(before, known.minBy(ChangedQuery.changes(before, _).size))
        )
    }
  }

  private def versionOf(line: String): Option[Long] =
    Option.when(line.startsWith(Format))(line.stripPrefix(Format)).flatMap(_.toLongOption)

  private val Format = "format "

  private def lines(join: StreamSymmetricHashJoinExec)(
      condition: (Expression, Expression => String) => String
  ): Seq[String] =
    (whatItIs(join)(condition) ++ SettingsUsed.of(expressions(join))).map(oneLine)

  private def asWritten(condition: Expression, sql: Expression => String): String = sql(condition)

  private def sorted(condition: Expression, sql: Expression => String): String =
    splitConjunctivePredicates(condition).map(sql).sorted.mkString(" AND ")

  /** A text or a name may hold a line break. Lines without one stay as they have always been written, and none of them
    * begins with a backslash.
    */
  private def oneLine(line: String): String =
    if (!line.exists(LineBreaks.contains(_))) line
    else "\\" + line.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")

  private val LineBreaks = "\n\r"

  private def whatItIs(join: StreamSymmetricHashJoinExec)(
      condition: (Expression, Expression => String) => String
  ): Seq[String] = {
    val spec = join.spec
    def sql(e: Expression) = named(e, join.columns).sql
    val keys = BySide(join.leftKeys, join.rightKeys)
    Seq(s"$Format${StateLayout.Version}", s"join ${spec.joinType.sql}") ++
      Side.both.map(side =>
        s"${side.name} columns ${join.columns(side).map(nameOf).mkString(", ")}"
      ) ++
      Side.both.map { side =>
        s"${side.name} key ${keys(side).map(sql).mkString(", ")}; " +
          Seq("rank", "low", "high")
            .zip(spec.ranks(side))
            .map { case (n, e) => s"$n ${sql(e)}" }
            .mkString("; ")
      } :+ s"as of ${spec.asOf.fold("none")(asOf(_, sql))}" :+ s"condition ${join.condition.full.fold("none")(condition(_, sql))}"
  }

  private def asOf(spec: AsOfSpec, sql: Expression => String): String =
    (sql(spec.best) +: spec.best.ties.map(tie => s"ties ${sql(tie)}")).mkString("; ")

  /** As SQL writes it; without the number that Spark gives an expression of two uses, another one in each run. */
  private def nameOf(column: Attribute): String =
    quoteIfNeeded(column.name.replaceFirst("^(_common_expr|_gen_alias)_\\d+(#\\d+)?$", "$1"))

  /** Those of the join and of all below it, of which the columns of its rows are made. */
  private def expressions(join: StreamSymmetricHashJoinExec): Seq[Expression] =
    own(join) ++ join.children.flatMap(_.collect { case node => node.expressions }.flatten)

  private def ofStreams(join: StreamSymmetricHashJoinExec): Seq[Expression] =
    join.children.flatMap(throughRows).flatMap(_.expressions)

  /** The nodes through which rows of a stream come. */
  private def throughRows(plan: SparkPlan): Seq[SparkPlan] =
    plan +: plan.children.filterNot(isOfTables).flatMap(throughRows)

  private def isOfTables(plan: SparkPlan) =
    plan.collectLeaves().forall(_.logicalLink.exists(!_.isStreaming))

  /** Of a table that is cached nothing is seen of what its columns are made of. */
  private def readsCache(join: StreamSymmetricHashJoinExec): Boolean =
    join.children.exists(_.exists(_.isInstanceOf[InMemoryTableScanLike]))

  private def own(join: StreamSymmetricHashJoinExec): Seq[Expression] =
    join.expressions ++ join.condition.full ++ Side.both.flatMap(join.spec.ranks(_)) ++
      join.spec.asOf.toSeq.flatMap(asOf => asOf.best +: (asOf.condition ++ asOf.check).toSeq)

  /** Columns by their places. */
  private def named(expression: Expression, columns: BySide[Seq[Attribute]]): Expression =
    expression.transform { case a: AttributeReference =>
      val place = Side.both.flatMap { side =>
        val i = columns(side).indexWhere(_.exprId == a.exprId)
        Option.when(i >= 0)(s"${side.name}$i")
      }.headOption
      place.fold(a)(name => AttributeReference(name, a.dataType, a.nullable)(a.exprId))
    }
}
