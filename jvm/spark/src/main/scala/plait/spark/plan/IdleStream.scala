// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LocalRelation, Statistics}

/** A source that has nothing for this micro-batch.
  *
  * Spark writes it as a relation without rows, which its optimizer takes out of a UNION: then the side of a join
  * would have other columns, and event times, in one batch than in the next, and its state is of one join only.
  */
final case class IdleStream(relation: LocalRelation) extends LeafNode {
  override def output: Seq[Attribute] = relation.output
  override def isStreaming: Boolean = true
  override def computeStats(): Statistics = Statistics(sizeInBytes = 1)
}
