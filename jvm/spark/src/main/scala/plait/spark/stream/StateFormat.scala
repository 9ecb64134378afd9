// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import plait.{BySide, Side}

/** What the state of a join was written by: Spark's check of schemas knows columns, but the rows that wait
  * are kept by key and with rank and end of their reach, which follow from the condition.
  *
  * {{{
  * state/0/_plait/format
  *   format 2
  *   join LEFT OUTER
  *   left key left1; rank order_value(left0); ...
  * }}}
  *
  * A query that goes on with another condition is refused: rows that wait would leave too early. Other names
  * for the same columns are the same join.
  */
object StateFormat {
  def check(join: StreamSymmetricHashJoinExec, conf: Configuration): Unit = {
    val info = join.getStateInfo
    val folder = new Path(info.checkpointLocation, s"${info.operatorId}/_plait")
    val files = CheckpointFileManager.create(folder, conf)
    val file = new Path(folder, "format")
    val now = lines(join)
    if (!files.exists(file)) {
      if (!files.exists(folder)) files.mkdirs(folder)
      val out = files.createAtomic(file, overwriteIfPossible = true)
      out.write(now.mkString("", "\n", "\n").getBytes(UTF_8))
      out.close()
    } else {
      val before = read(files, file)
      if (before != now) throw refused(before, now)
    }
  }

  private def read(files: CheckpointFileManager, file: Path): Seq[String] =
    Using.resource(new BufferedReader(new InputStreamReader(files.open(file), UTF_8))) {
      _.lines().iterator.asScala.toSeq
    }

  private def lines(join: StreamSymmetricHashJoinExec): Seq[String] = {
    val spec = join.spec
    def sql(e: Expression) = named(e, join.columns).sql
    val keys = BySide(join.leftKeys, join.rightKeys)
    Seq(s"format ${StateLayout.Version}", s"join ${spec.joinType.sql}") ++
      Side.both.map { side =>
        s"${side.name} key ${keys(side).map(sql).mkString(", ")}; " +
          Seq("rank", "low", "high")
            .zip(spec.ranks(side))
            .map { case (n, e) => s"$n ${sql(e)}" }
            .mkString("; ")
      } :+ s"as of ${spec.asOf.fold("none")(a => sql(a.best))}" :+ s"condition ${join.condition.full.fold("none")(sql)}"
  }

  /** Columns by their places. */
  private def named(expression: Expression, columns: BySide[Seq[Attribute]]): Expression =
    expression.transform { case a: AttributeReference =>
      val place = Side.both.flatMap { side =>
        val i = columns(side).indexWhere(_.exprId == a.exprId)
        Option.when(i >= 0)(s"${side.name}$i")
      }.headOption
      place.fold(a)(name => AttributeReference(name, a.dataType, a.nullable)(a.exprId))
    }

  private def refused(before: Seq[String], now: Seq[String]): StateFormatException = {
    val (was, is) = before.zipAll(now, "nothing", "nothing").find { case (b, n) => b != n }.get
    new StateFormatException(
      s"The state of this join was written by another query: its checkpoint says '$was', the query now '$is'. " +
        "Rows that wait would be joined or dropped by the wrong condition. Start the changed query with a new " +
        "checkpoint, or go on with the query as it was."
    )
  }
}
