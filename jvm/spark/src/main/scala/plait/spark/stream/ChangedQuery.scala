// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import scala.util.matching.Regex

import org.apache.spark.sql.internal.SQLConf

import plait.spark.PlaitConf

/** Why a query cannot go on with the state of another, in words, of the lines that [[StateFormat]] has of both:
  *
  * {{{
  * before   condition (left1 < right1)      now   condition (left1 <= right1)
  *   its checkpoint says 'condition (left.ts < right.ts)', the query now 'condition (left.ts <= right.ts)'
  * }}}
  *
  * Several lines follow from one thing that has changed, and the one that is nearest to what the user wrote is told. The
  * names are those of the columns that the join reads.
  */
object ChangedQuery {
  def apply(before: Seq[String], now: Seq[String]): String = {
    val (was, is) = changes(before, now).minBy { case (was, is) =>
      place(if (is.isEmpty) was else is)
    }
    if (Seq(was, is).forall(line => line.isEmpty || line.startsWith("spark.sql.")))
      s"The state of this join was written with ${set(was)}, and the query now runs with ${set(is)}. Values of its " +
        "columns or its condition follow from that, so rows that wait would be joined or dropped by the wrong ones. " +
        "Before the query starts, set it as it was; or start with a new checkpoint."
    else
      s"The state of this join was written by another query: its checkpoint says '${named(was, before)}', the query now " +
        s"'${named(is, now)}'. Rows that wait would be joined, dropped or given by the wrong columns or condition. Start the " +
        "changed query with a new checkpoint, or go on with the query as it was." + whyOther
  }

  def changes(before: Seq[String], now: Seq[String]): Seq[(String, String)] =
    before.zipAll(now, "", "").filter { case (was, is) => was != is }

  private val Nearest =
    Seq("join", "left columns", "right columns", "as of", "condition", "left key", "right key")

  /** Settings come last, and of two with the same the first. */
  private def place(line: String): Int = {
    val at = Nearest.indexWhere(line.stripPrefix("\\").startsWith)
    if (at < 0) Nearest.size else at
  }

  private val Place: Regex = "\\b(left|right)(\\d+)\\b".r

  /** With columns by their names for `left2`. */
  private def named(line: String, lines: Seq[String]): String =
    Place.replaceAllIn(
      line,
      found => {
        val (side, place) = (found.group(1), found.group(2).toInt)
        val name = columns(side, lines).lift(place)
        Regex.quoteReplacement(name.fold(found.matched)(column => s"$side.$column"))
      }
    )

  /** A name that has a comma in it shifts those after it: such lines are shown as they are. */
  private def columns(side: String, lines: Seq[String]): Seq[String] =
    lines
      .collectFirst { case line if line.startsWith(s"$side columns ") => line }
      .filterNot(_.contains("`"))
      .toSeq
      .flatMap(_.stripPrefix(s"$side columns ").split(", "))

  private def set(line: String): String =
    if (line.isEmpty) "none of which values would follow" else line.replaceFirst(" ", "=")

  private def whyOther: String =
    if (PlaitConf(SQLConf.get).enabled) ""
    else
      s" Plait's hints and table properties are not seen while ${PlaitConf.Enabled} is false: it is to be true where the " +
        "query is made."
}
