// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.{AsOfJoin, Claim, KeptTogether}

/** Where the values of a stream come from: an expression seen through the nodes that give out each row in the
  * batch in which it comes to them.
  *
  * {{{
  * Project(date_trunc('HOUR', ts) AS h)      h is date_trunc('HOUR', ts) over the columns below
  * Project(named_struct('t', ts) AS s)       s.t is ts
  * Filter, a hint, a claim, dropDuplicates   the same expression
  * Aggregate, a join of streams              None: they keep rows, and what they give out may be older than
  * Union                                     what they have taken in; None: its columns come from several
  * }}}
  */
object Lineage {

  /** The expression over the columns of the one stream below. */
  def below(expression: Expression, plan: LogicalPlan): Option[(Expression, LogicalPlan)] =
    plan match {
      case Project(list, child) =>
        val made = AttributeMap(list.collect { case a: Alias => a.toAttribute -> a.child })
        val seen = expression.transform { case a: Attribute => made.getOrElse(a, a) }
        Option.when(seen.deterministic)((withoutStructs(seen), child))
      case _: SubqueryAlias | _: View | _: Filter | _: ResolvedHint | _: EventTimeWatermark |
          _: Claim | _: KeptTogether | _: Generate | _: RepartitionOperation | _: Deduplicate |
          _: DeduplicateWithinWatermark | _: CollectMetrics =>
        ofStream(expression, plan)
      // A stream beside a table: its rows come out in the batch in which they come.
      case _: Join | _: AsOfJoin => ofStream(expression, plan)
      case _ => None
    }

  /** A field of a struct that was made of columns is the column. */
  private def withoutStructs(expression: Expression): Expression = expression.transformUp {
    case GetStructField(made: CreateNamedStruct, ordinal, _) => made.valExprs(ordinal)
  }

  private def ofStream(expression: Expression, plan: LogicalPlan) =
    plan.children.filter(_.isStreaming) match {
      case Seq(stream) if expression.references.subsetOf(stream.outputSet) =>
        Some((expression, stream))
      case _ => None
    }
}
