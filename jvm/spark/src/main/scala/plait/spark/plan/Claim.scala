// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical._

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

  /** With those of the columns, which Spark leaves out of what it does not know. */
  override def stats: Statistics = child.stats
  override protected lazy val validConstraints: ExpressionSet = child.constraints
}

/** What says something of a stream only. Of a table it is taken out. */
trait StreamClaim extends Claim

object StreamClaim {

  /** What is said of the streams of a side, if something is said of each. A join of streams or an aggregation gives out
    * rows of its own, of which what is said below says nothing.
    *
    * {{{
    * Deduplicate(id)             gives a row out in the batch in which it comes, or never: what is said holds
    *   StateTtl(1 DAY)
    *     l
    * Aggregate(id)               gives rows out when the watermark has passed them: nothing is said
    *   StateTtl(1 DAY)
    *     l
    * }}}
    */
  def ofEach[C](side: LogicalPlan)(said: PartialFunction[LogicalPlan, C]): Option[Seq[C]] =
    side match {
      case claim if said.isDefinedAt(claim) => Some(Seq(said(claim)))
      case still if !still.isStreaming => Some(Nil)
      case _: Project | _: Filter | _: SubqueryAlias | _: View | _: ResolvedHint |
          _: EventTimeWatermark | _: KeptTogether | _: Generate | _: RepartitionOperation |
          _: Union | _: Claim =>
        ofEachOf(side.children)(said)
      // They keep keys or counts, and leave rows out; those that they give out they have just been given.
      case _: Deduplicate | _: DeduplicateWithinWatermark | _: CollectMetrics | _: GlobalLimit |
          _: LocalLimit =>
        ofEachOf(side.children)(said)
      // A stream beside a table keeps no rows.
      case join @ (_: Join | _: AsOfJoin) if join.children.count(_.isStreaming) == 1 =>
        ofEachOf(join.children)(said)
      case _ => None
    }

  private def ofEachOf[C](plans: Seq[LogicalPlan])(said: PartialFunction[LogicalPlan, C]) = {
    val found = plans.map(ofEach(_)(said))
    Option.when(found.forall(_.isDefined))(found.flatten.flatten)
  }
}
