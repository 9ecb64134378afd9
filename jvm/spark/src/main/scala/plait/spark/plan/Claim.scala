// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/** What somebody has said of a relation, by a hint or a property of its table. The rows are the relation's.
  *
  * {{{
  * OrderedBy       in which order they come             ORDERED(l, seq)
  * VersionTable    that they are versions of keys       VERSIONED(r, valid_from)
  * BoundedStream   that they will come to an end        BOUNDED(l)
  * StateTtl        how long a join remembers them       STATE_TTL(l, INTERVAL 1 DAY)
  * }}}
  */
trait Claim extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected lazy val validConstraints: ExpressionSet = child.constraints
}

/** What says something of a stream only. Of a table it is taken out. */
trait StreamClaim extends Claim
