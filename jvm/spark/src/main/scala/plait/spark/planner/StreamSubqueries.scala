// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.SubExprUtils.containsOuter
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{
  PullupCorrelatedPredicates,
  RewritePredicateSubquery
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{EXISTS_SUBQUERY, IN_SUBQUERY}
import org.apache.spark.sql.internal.SQLConf

import plait.order.WhyNot
import plait.spark.PlaitConf
import plait.spark.plan.{Claim, ClauseError}

/** Makes joins of what a stream asks of another in WHERE, before Spark's check of the analysis, which refuses
  * every subquery over a stream:
  *
  * {{{
  * Filter EXISTS (r.k = l.k AND r.s > l.s), l.x > 0      becomes     Project l
  *   l                                                                 Join LeftSemi, r.k = l.k AND r.s > l.s
  *                                                                       Filter l.x > 0
  *                                                                         l
  *                                                                       r
  * NOT EXISTS, NOT IN      LeftAnti
  * }}}
  *
  * The rules that make them are the optimizer's own, applied to the filter over a leaf of the same columns. They
  * see no plan that Spark would refuse of tables too: what is compared with the outer query stands in WHERE,
  * below nothing but projections.
  *
  * `NOT IN` is FALSE or NULL for every row as soon as one NULL has come on the other side, whenever that is; so it
  * is taken only where no side can be NULL.
  */
object StreamSubqueries extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsAnyPattern(EXISTS_SUBQUERY, IN_SUBQUERY)) {
      case filter: Filter
          if filter.resolved && filter.isStreaming && asksStream(filter.condition) =>
        PlaitConf(SQLConf.get).turnedOff.foreach(setting => throw refused(setting, filter))
        joined(filter)
    }

  /** Spark would refuse it with words that do not say how it ran before. */
  private def refused(setting: String, filter: Filter) = {
    val asking = splitConjunctivePredicates(filter.condition).find(asksStream).get
    ClauseError(
      "Spark runs no subquery over a stream; Plait runs EXISTS and IN as joins of streams, and " +
        s"${WhyNot.TurnedOff(setting).sentence}. Take that setting back where the query is made: one that has a checkpoint then " +
        "goes on with it.",
      origin(asking, filter)
    )
  }

  private def asksStream(expression: Expression): Boolean = expression.exists {
    case exists: Exists => exists.plan.isStreaming
    case list: ListQuery => list.plan.isStreaming
    case _ => false
  }

  private def joined(filter: Filter): LogicalPlan = {
    val (asking, others) = splitConjunctivePredicates(filter.condition).partition(asksStream)
    val below = others.reduceOption(And(_, _)).fold(filter.child)(Filter(_, filter.child))
    for (conjunct <- asking; why <- whyNot(conjunct, below))
      throw ClauseError(s"A subquery over a stream $why.", origin(conjunct, filter))
    asking.foldLeft(below)(joined)
  }

  private def joined(outer: LogicalPlan, conjunct: Expression): LogicalPlan = {
    val leaf = LocalRelation(outer.output)
    val made = RewritePredicateSubquery(PullupCorrelatedPredicates(Filter(conjunct, leaf)))
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      made.transformUp {
        case same if same eq leaf => outer
        case join: Join if join.left eq outer =>
          val known =
            join.copy(condition =
              join.condition.map(knowingNoNull(conjunct, join.right)).map(asOfJoin)
            )
          known.setTagValue(MadeOf, ())
          known
      }
    }
  }

  /** As the condition of a join is analysed, for what looks at it before the optimizer does: no column is of an outer query. */
  private def asOfJoin(condition: Expression): Expression =
    SharedExpressions.writtenOut(condition.transformUp {
      case OuterReference(column) => column
      case replaced: RuntimeReplaceable => replaced.replacement
    })

  /** Is it the join of a subquery, which nobody wrote as a join? */
  def isMadeOf(join: Join): Boolean = join.getTagValue(MadeOf).isDefined

  private val MadeOf = TreeNodeTag[Unit]("plait.stream.subquery")

  private def origin(conjunct: Expression, filter: Filter) =
    if (conjunct.origin.startIndex.isDefined) conjunct.origin else filter.origin

  /** `NOT IN` as Spark writes it: its values are equal, or that is NULL, which it cannot be. What the query itself says
    * of NULL stays.
    * @param made
    *   the right side of the join, whose first columns are those of the subquery
    */
  private def knowingNoNull(conjunct: Expression, made: LogicalPlan)(
      condition: Expression
  ): Expression = conjunct match {
    case Not(InSubquery(values, _)) =>
      val equalities = values.zip(made.output).map { case (v, column) => EqualTo(v, column) }
      condition.transform {
        case Or(equal: EqualTo, IsNull(same))
            if equal.semanticEquals(same) && equalities.exists(_.semanticEquals(equal)) =>
          equal
      }
    case _ => condition
  }

  private def whyNot(conjunct: Expression, outer: LogicalPlan): Option[String] = conjunct match {
    case exists: Exists => whyNotExists(exists)
    case Not(exists: Exists) => whyNotExists(exists)
    case InSubquery(_, query) => whyNotPulled(query.plan)
    case Not(InSubquery(values, query)) =>
      whyNotPulled(query.plan).orElse(mayBeNull(values, outer, query.plan))
    case _ =>
      Some(
        "can only be asked for with [NOT] EXISTS or [NOT] IN that stands in WHERE by itself or between ANDs, because it " +
          "becomes a join: write the parts of an OR as queries of their own with UNION ALL, the second WHERE (the first part) IS NOT TRUE AND " +
          "(the second)"
      )
  }

  private def whyNotExists(exists: Exists): Option[String] =
    if (exists.isCorrelated) whyNotPulled(exists.plan)
    else
      Some(
        "must be compared with the outer query in its WHERE: every row that ever comes would answer this one"
      )

  /** What is compared with the outer query must not lie below what counts or cuts rows. */
  private def whyNotPulled(plan: LogicalPlan): Option[String] = plan match {
    case filter: Filter => whyNotPulled(filter.child)
    case _: Project | _: SubqueryAlias | _: View | _: ResolvedHint | _: Claim |
        _: EventTimeWatermark =>
      if (plan.expressions.exists(containsOuter)) Some(notInWhere(plan))
      else whyNotPulled(plan.children.head)
    case other =>
      Option.when(other.exists(_.expressions.exists(containsOuter)))(notInWhere(other))
  }

  private def notInWhere(plan: LogicalPlan) =
    s"can be compared with the outer query in its own WHERE only, not in or below ${plan.nodeName}"

  private def mayBeNull(
      values: Seq[Expression],
      outer: LogicalPlan,
      subquery: LogicalPlan
  ): Option[String] =
    (values.map(_ -> outer) ++ subquery.output.map(_ -> subquery)).collectFirst {
      case (value, plan) if !isNotNull(value, plan) =>
        s"can be asked for with NOT IN only where no value can be NULL, and ${value.sql} can: say IS NOT NULL of " +
          "it in WHERE, or use NOT EXISTS"
    }

  private def isNotNull(value: Expression, plan: LogicalPlan): Boolean =
    !value.nullable || plan.constraints.contains(IsNotNull(value)) || (value match {
      case Cast(child, to, _, mode) =>
        mode != EvalMode.TRY && !Cast.forceNullable(child.dataType, to) && isNotNull(child, plan)
      case _ => false
    })
}
