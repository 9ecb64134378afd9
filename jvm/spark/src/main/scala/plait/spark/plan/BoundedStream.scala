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

  /** The names of the bounded streams that a side is made of, if all of its streams are bounded. A join or an
    * aggregation between gives out rows when its streams are over, so those say nothing of the side.
    */
  def names(side: LogicalPlan): Option[Seq[String]] = side match {
    case BoundedStream(relation, _) => Some(Seq(relation))
    case still if !still.isStreaming => Some(Nil)
    case _: Project | _: Filter | _: SubqueryAlias | _: ResolvedHint | _: EventTimeWatermark |
        _: KeptTogether | _: Generate | _: RepartitionOperation | _: Union | _: Claim =>
      all(side.children)
    // A stream beside a table keeps no rows.
    case join: BinaryNode if join.children.count(_.isStreaming) == 1 => all(join.children)
    case _ => None
  }

  private def all(plans: Seq[LogicalPlan]): Option[Seq[String]] = {
    val found = plans.map(names)
    Option.when(found.forall(_.isDefined))(found.flatten.flatten).filter(_.nonEmpty)
  }

  /** Whether no source of a plan has anything for this micro-batch. */
  def isIdle(side: LogicalPlan): Boolean = side.collectLeaves().filter(_.isStreaming).forall {
    case _: IdleStream => true
    case _ => false
  }
}
