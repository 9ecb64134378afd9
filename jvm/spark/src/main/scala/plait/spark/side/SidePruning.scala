// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import plait.order.WhyNot

/** How the rows of one side find partners, or are found, and what ends the search for a row: the
  * comparisons of the query, or nothing, and why.
  *
  * {{{
  * by(ordered by s ASC, reaches s in (s - 7, s - 4); ((s + 3) < (s + 10)))      ..., pruned by ((s + 3) < (s + 10))
  * not(ordered by t ASC, reaches t in (t, +inf); ENDLESS_REACH)                 ..., not pruned: no comparison ends ...
  * }}}
  *
  * Serializable, because a plan may go to the tasks with the code around it.
  *
  * @param text
  *   all of it in words, for EXPLAIN
  * @param prunedBy
  *   the comparisons as the query wrote them
  */
final class SidePruning private (val text: String, val prunedBy: Either[WhyNot, String])
    extends Serializable {
  def whyNot: Option[WhyNot] = prunedBy.left.toOption

  /** The same, and what else is to be told of the side. */
  def and(more: String): SidePruning = new SidePruning(s"$text; $more", prunedBy)

  /** What does prune it, if something else were known. */
  def unlessFor(why: WhyNot): SidePruning =
    if (text.startsWith("not pruned")) SidePruning.not(why)
    else SidePruning.not(text.split(", (not )?pruned(:| by)").head, why)

  /** The streams of the other side come to an end, and its own time with them. */
  def untilOver(streams: Seq[String]): SidePruning = new SidePruning(
    s"${text.split("not pruned").head}freed when ${streams.mkString(", ")} is over",
    Right(streams.mkString("BOUNDED(", ", ", ")"))
  )

  /** A limit of its own ends its time. */
  def forgottenBy(limit: String): SidePruning =
    new SidePruning(s"${text.split("not pruned").head}forgotten by $limit", Right(limit))

  /** The next row of its key ends a row's time. */
  def supersededByNext: SidePruning = new SidePruning(
    s"${text.split(", not pruned").head}; superseded by the next of its key",
    Right(prunedBy.getOrElse("the next row of its key"))
  )

  override def toString: String = text
}

object SidePruning {
  def by(order: String, comparisons: String): SidePruning =
    new SidePruning(s"$order, pruned by $comparisons", Right(comparisons))

  def not(order: String, why: WhyNot): SidePruning =
    new SidePruning(s"$order, not pruned: $why", Left(why))

  /** Its rows have no order. */
  def not(why: WhyNot): SidePruning = new SidePruning(s"not pruned: $why", Left(why))

  /** Its rows come one by one and are not held. */
  def lookingUp(interval: String, comparisons: String): SidePruning =
    new SidePruning(s"looks up $interval, by $comparisons", Right(comparisons))

  /** Its rows are all held, by their intervals. */
  def collected(interval: String, why: WhyNot): SidePruning =
    new SidePruning(s"collected with $interval, not pruned: $why", Left(why))
}
