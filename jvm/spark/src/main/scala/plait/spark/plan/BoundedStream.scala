// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.plans.logical._

/** The rows of a stream of which somebody has said that all of them are there to be read when the query
  * starts.
  *
  * {{{
  * BOUNDED(l)      batch 0   l 1,000 rows   r  500      both wait
  *                 batch 1   l   400 rows   r  500
  *                 batch 2   l none         r  500      l is over: no right row waits any more
  *                 batch 9   l 1 row                    an error
  * }}}
  *
  * Nothing tells a query that a source has ended, so it is over with the first micro-batch for which its source
  * has nothing. That the source has less than a trigger may take is no end.
  *
  * @param relation
  *   its name, for people
  */
final case class BoundedStream(relation: String, child: LogicalPlan) extends StreamClaim {
  override protected def withNewChildInternal(newChild: LogicalPlan): BoundedStream =
    copy(child = newChild)
}

object BoundedStream {

  /** The names of the bounded streams that a side is made of, if all of its streams are bounded; else none. */
  def names(side: LogicalPlan): Seq[String] =
    StreamClaim.ofEach(side) { case BoundedStream(relation, _) => relation }.getOrElse(Nil)

  /** Whether no source of a plan has anything for this micro-batch. */
  def isIdle(side: LogicalPlan): Boolean =
    side.collectLeaves().filter(_.isStreaming).forall(_.isInstanceOf[IdleStream])
}
