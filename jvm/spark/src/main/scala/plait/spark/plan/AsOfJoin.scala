// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan, Statistics}

import plait.BySide
import plait.order.WhyNot
import plait.spark.translate.{BestMatch, EventTimeColumn, JoinedColumns}

/** Each left row and the one right row that it picks.
  *
  * {{{
  * pick(l)  = the best r of { r in R : condition(l, r) } by `best`
  * INNER    = { (l, pick(l)) : pick(l) exists and check(l, pick(l)) }
  * LEFT     = INNER, and (l, NULL ...) for every other l
  * RIGHT    = INNER, and (NULL ..., r) for every r that nobody picked;  FULL both
  * SEMI     = the l of INNER;  ANTI the other l
  * }}}
  *
  * @param condition
  *   what must be TRUE of a pair before the best is chosen: equalities and all else of ON
  * @param check
  *   what must be TRUE of the pair that was chosen
  * @param ranges
  *   both sides come cut into so many ranges of the match value, along the scan, a partition each; or
  *   why they do not
  */
final case class AsOfJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    best: BestMatch,
    condition: Option[Expression],
    check: Option[Expression],
    ranges: Either[WhyNot, Int] = Left(WhyNot.NotAsked())
) extends BinaryNode {

  override protected def stringArgs: Iterator[Any] =
    Iterator(joinType, best, condition, check) ++ ranges.map(n => s"in $n ranges").toOption

  /** Of streams the event times of the rows are those of the left side: a version may be as old as it likes. */
  override def output: Seq[Attribute] = JoinedColumns.of(
    joinType,
    left.output,
    if (left.isStreaming) right.output.map(EventTimeColumn.unmarked) else right.output
  )

  override def metadataOutput: Seq[Attribute] = joinType match {
    case LeftExistence(_) => left.metadataOutput
    case _ => super.metadataOutput
  }

  private def keepsRight: Boolean = joinType == RightOuter || joinType == FullOuter

  /** A left row comes out once at most, and so does a right row alone. */
  override def maxRows: Option[Long] =
    if (keepsRight) for (l <- left.maxRows; r <- right.maxRows) yield l + r else left.maxRows

  /** Of a node that it does not know Spark would multiply the sizes of the sides. */
  override def stats: Statistics = statsCache.getOrElse {
    val rows = guess(left) + (if (keepsRight) guess(right) else 0)
    val found = Statistics(sizeInBytes = (rows * RowWidth.of(output)).max(1))
    statsCache = Some(found)
    found
  }

  private def guess(side: LogicalPlan): BigInt = {
    val known = side.stats
    known.rowCount.getOrElse(known.sizeInBytes / RowWidth.of(side.output))
  }

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): AsOfJoin = copy(left = newLeft, right = newRight)
}

object AsOfJoin {

  /** Of which sides a row that matches nothing leaves no trace. */
  def isFree(joinType: JoinType): BySide[Boolean] = joinType match {
    case LeftOuter | LeftAnti => BySide(false, true)
    case RightOuter => BySide(true, false)
    case FullOuter => BySide(false, false)
    case _ => BySide(true, true)
  }
}
