// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
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
  * @param lost
  *   what was said of rows below that these rows are not
  */
final case class VersionTable(
    since: Option[Expression],
    ties: Seq[SortOrder],
    keys: Seq[Expression],
    deleted: Option[Expression],
    lost: Seq[LostVersions],
    child: LogicalPlan
) extends Claim {

  /** What this says, and what another says where this says nothing. */
  def orElse(other: VersionTable): VersionTable = VersionTable(
    since.orElse(other.since),
    if (since.isDefined || ties.nonEmpty) ties else other.ties,
    if (keys.nonEmpty) keys else other.keys,
    deleted.orElse(other.deleted),
    lost ++ other.lost.filterNot(parts contains _.part),
    child
  )

  /** The hints that would say this. */
  def parts: Seq[String] = hints.map(_._1)

  /** The same with what they would say. */
  def hints: Seq[(String, String)] = {
    val all = Seq(
      "VERSIONED" -> (since.toSeq ++ ties),
      "VERSION_KEY" -> keys,
      "VERSION_DELETED" -> deleted.toSeq
    )
    all.collect {
      case (name, said) if said.nonEmpty => name -> said.map(_.sql).mkString(", ")
    }
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): VersionTable =
    copy(child = newChild)
}

object VersionTable {

  /** Nothing is said of these rows. */
  def none(rows: LogicalPlan): VersionTable = VersionTable(None, Nil, Nil, None, Nil, rows)
}

/** A hint on rows from which an operation makes others: `VERSION_DELETED`, below a `Join`. */
final case class LostVersions(part: String, operation: String)

/** A query of WITH that is looked up `FOR SYSTEM_TIME AS OF`, until it is known what it says of its
  * versions: it stands elsewhere in the plan.
  */
final case class NamedVersions(child: LogicalPlan) extends UnaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): NamedVersions =
    copy(child = newChild)
}
