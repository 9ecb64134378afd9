// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import org.antlr.v4.runtime.ParserRuleContext
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.parser.ParserUtils.withOrigin
import org.apache.spark.sql.catalyst.parser.SqlBaseParser._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LateralJoin, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.plans.{Cross, NaturalJoin, UsingJoin}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.SparkSqlAstBuilder

import plait.spark.plan._

/** Builds plans as Spark does, and gives a join the clause back that was set aside: as one more conjunct
  * of its condition, so that Spark resolves its names and types with the rest.
  *
  * {{{
  * l LEFT ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k
  *     Join(l, r, LeftOuter, l.k = r.k AND MatchCondition(l.ts >= r.ts))
  * }}}
  */
final class ClauseBuilder(clauses: Clauses) extends SparkSqlAstBuilder with TimestampPrecision {

  override def visitCompoundOrSingleStatement(
      context: CompoundOrSingleStatementContext
  ): LogicalPlan = {
    clauses.widen(context)
    super.visitCompoundOrSingleStatement(context)
  }

  override def visitSingleStatement(context: SingleStatementContext): LogicalPlan = {
    clauses.widen(context)
    super.visitSingleStatement(context)
  }

  override def visitCreateUserDefinedFunction(
      context: CreateUserDefinedFunctionContext
  ): LogicalPlan = {
    clauses.keptAsText()
    super.visitCreateUserDefinedFunction(context)
  }

  override def visitDeclareCursorStatement(
      context: DeclareCursorStatementContext
  ): LogicalPlan = {
    clauses.keptAsText()
    super.visitDeclareCursorStatement(context)
  }

  override def visitFromClause(context: FromClauseContext): LogicalPlan =
    completed(super.visitFromClause(context))

  override def visitRelation(context: RelationContext): LogicalPlan =
    completed(super.visitRelation(context))

  override def visitOperatorPipeStatement(context: OperatorPipeStatementContext): LogicalPlan =
    completed(super.visitOperatorPipeStatement(context))

  /** A time that names a column, or PROCTIME(), is not Spark's time travel. */
  override def visitTableName(context: TableNameContext): LogicalPlan =
    Option(context.temporalClause).flatMap(systemTime).fold(super.visitTableName(context)) { time =>
      clauses.found()
      context.children.remove(context.temporalClause)
      AtSystemTime(new Carried(time), super.visitTableName(context))
    }

  private def systemTime(clause: TemporalClauseContext): Option[SystemTime] =
    if (clause.SYSTEM_TIME == null || clause.timestamp == null) None
    else
      withOrigin(clause) {
        expression(clause.timestamp) match {
          case UnresolvedFunction(Seq(name), Nil, false, None, None, Nil, _)
              if name.equalsIgnoreCase("PROCTIME") =>
            Some(SystemTime(None))
          case time if time.exists(_.isInstanceOf[UnresolvedAttribute]) =>
            Some(SystemTime(Some(time)))
          case _ => None
        }
      }

  /** A call of a window function becomes a node of ours, with its aliases above. */
  override def visitTableFunctionCallWithTrailingClauses(
      context: TableFunctionCallWithTrailingClausesContext
  ): LogicalPlan = {
    def spark = super.visitTableFunctionCallWithTrailingClauses(context)
    WindowCall.of(context).fold(spark) { call =>
      clauses.found()
      withOrigin(context) {
        call.plan(this, if (call.isCertain) None else Some(spark)) match {
          case unfit: UnfitWindowCall => unfit
          case plan => trailed(plan, call, context)
        }
      }
    }
  }

  private def trailed(
      plan: LogicalPlan,
      call: WindowCall,
      context: TableFunctionCallWithTrailingClausesContext
  ): LogicalPlan = {
    Option(context.watermarkClause).foreach { w =>
      throw ClauseError(s"WATERMARK belongs to the table inside ${call.function.name}", w.getStart)
    }
    Option(context.tableAlias).filter(_.strictIdentifier != null).fold(plan) { alias =>
      val named = Option(alias.identifierList).map(visitIdentifierList)
      SubqueryAlias(
        getIdentifierText(alias.strictIdentifier),
        named.fold(plan)(UnresolvedSubqueryColumnAliases(_, plan))
      )
    }
  }

  private[sql] def expressionOf(context: ParserRuleContext): Expression = expression(context)
  private[sql] def queryOf(context: QueryContext): LogicalPlan = plan(context)
  private[sql] def relationOf(context: IdentifierReferenceContext): LogicalPlan =
    withOrigin(context)(withIdentClause(context, UnresolvedRelation(_)))

  /** Relations in parentheses, and queries in it, are complete before. */
  private def completed(plan: LogicalPlan): LogicalPlan = plan match {
    case Join(left, AtSystemTime(time, right), joinType, condition, hint) =>
      if (plan.origin.startIndex.flatMap(clauses.asOf).isDefined)
        throw ClauseError("A join has either MATCH_CONDITION or FOR SYSTEM_TIME AS OF", plan.origin)
      condition.foreach(WrittenCasts.mark)
      val inner = CurrentOrigin.withOrigin(plan.origin) {
        Join(completed(left), right, joinType, condition, hint)
      }
      withConjunct(inner, time.value)
    case join: Join =>
      val inner = join.mapChildren(completed).asInstanceOf[Join]
      join.origin.startIndex.flatMap(clauses.asOf).fold[LogicalPlan](inner)(asOf(inner, _))
    case lateral: LateralJoin if lateral.origin.startIndex.flatMap(clauses.asOf).isDefined =>
      throw ClauseError(
        "ASOF JOIN takes no LATERAL: its right side is the same for every left row. Join a query without LATERAL, " +
          "or put the as-of join inside of it",
        lateral.origin
      )
    case AtSystemTime(time, _) => throw ClauseBuilder.notOfJoin(time.value)
    case done: UsingMatch => done
    case other => other.mapChildren(completed)
  }

  private def asOf(join: Join, clause: AsOfClause): LogicalPlan =
    if (join.condition.exists(_.exists(_.isInstanceOf[MatchCondition]))) join
    else withConjunct(join, clause.condition(this))

  /** The join with one more conjunct in its condition. */
  private def withConjunct(join: Join, clause: Expression): LogicalPlan = join.joinType match {
    case _: UsingJoin => UsingMatch(new Carried(clause), join)
    case Cross | _: NaturalJoin =>
      throw ClauseError(
        "ASOF JOIN and FOR SYSTEM_TIME AS OF go with INNER, LEFT, RIGHT, FULL, LEFT SEMI and LEFT ANTI joins, " +
          s"with ON or USING, not with ${join.joinType.sql}",
        join.origin
      )
    case _ =>
      val both = join.condition.foldLeft(clause)((c, on) => And(on, c))
      join.copy(condition = Some(both))
  }
}

private[sql] object ClauseBuilder {
  def notOfJoin(time: SystemTime): ParseException = ClauseError(
    "FOR SYSTEM_TIME AS OF a column or PROCTIME() stands behind the right side of a join. Spark's own time travel " +
      "takes a constant, as TIMESTAMP'2026-03-01 10:00:00' or current_timestamp() with its parentheses, and no variable",
    time.origin
  )
}
