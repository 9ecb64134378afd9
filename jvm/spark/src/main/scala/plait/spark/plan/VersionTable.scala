// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionSet, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** What somebody has said of a relation whose rows are versions of their keys:
  *
  * {{{
  * /*+ VERSIONED(r, valid_from, seq), VERSION_KEY(r, currency), VERSION_DELETED(r, (op = '-D')) */
  *     since valid_from, ties by seq, keys (currency), deleted op = '-D'
  * }}}
  *
  * It says nothing of the rows themselves, and goes before the query is optimized.
  *
  * @param since
  *   from when on a version is valid
  * @param ties
  *   which of two versions of one time is the later
  * @param keys
  *   columns that name what a row is a version of
  * @param deleted
  *   TRUE of a version that says that there is none
  */
final case class VersionTable(
    since: Option[Expression],
    ties: Seq[SortOrder],
    keys: Seq[Expression],
    deleted: Option[Expression],
    child: LogicalPlan
) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected lazy val validConstraints: ExpressionSet = child.constraints

  /** What this says, and what another says where this says nothing. */
  def orElse(other: VersionTable): VersionTable = VersionTable(
    since.orElse(other.since),
    if (since.isDefined || ties.nonEmpty) ties else other.ties,
    if (keys.nonEmpty) keys else other.keys,
    deleted.orElse(other.deleted),
    child
  )

  override protected def withNewChildInternal(newChild: LogicalPlan): VersionTable =
    copy(child = newChild)
}
