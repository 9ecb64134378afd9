// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{
  ParameterContext,
  ParseException,
  ParserInterface,
  SqlStatementSplitResult
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}
import org.apache.spark.sql.plait.ClauseParser
import org.apache.spark.sql.types.{DataType, StructType}

import plait.spark.PlaitConf
import plait.spark.plan.{AtSystemTime, ClauseError}

/** The parser of a session: a statement that has a clause of ours is read by Spark's own grammar with
  * the clause set aside; every other goes to the parser that was there before, untouched.
  *
  * {{{
  * SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k          ours
  * SELECT * FROM t WHERE note = 'MATCH_CONDITION'                                   as before
  * SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP'2026-03-01 10:00:00'             as before: Spark's time travel
  * }}}
  *
  * No word of ours is reserved: each counts only where its clause stands. Where a word may be of a clause,
  * the statement is read to see; if it has none, what was read is forgotten.
  *
  * @param session
  *   what is set in the session: the text of a view is read with the settings of its maker, of which Plait's are
  *   none
  */
final class PlaitParser(delegate: ParserInterface, session: () => SQLConf = () => SQLConf.get)
    extends ParserInterface {

  override def parsePlan(sqlText: String): LogicalPlan = parsed(sqlText)(_.parsePlan(sqlText))

  override def parsePlanWithParameters(
      sqlText: String,
      parameters: ParameterContext
  ): LogicalPlan = parsed(sqlText) {
    case ours: ClauseParser if !SQLConf.get.legacyParameterSubstitutionConstantsOnly =>
      ours.parsePlanSubstituted(sqlText, ClauseParameters.substituted(_, parameters))
    case other => other.parsePlanWithParameters(sqlText, parameters)
  }

  override def parseQuery(sqlText: String): LogicalPlan = parsed(sqlText)(_.parseQuery(sqlText))

  /** Clauses are looked for where variables have been put in. */
  private def parsed(sqlText: String)(by: ParserInterface => LogicalPlan): LogicalPlan =
    if (!PlaitConf(SQLConf.get).enabled || !PlaitConf(session()).enabled) by(delegate)
    else if (!Clauses.mayBeIn(new VariableSubstitution().substitute(sqlText)))
      told(sqlText)(by(delegate))
    else {
      val clauses = new Clauses
      Try(by(PlaitParser.of(clauses))) match {
        case ours if clauses.areThere =>
          told(sqlText, PlaitParser.isOfGrammar)(PlaitParser.checked(ours.get, clauses))
        case Success(_) | Failure(_: ParseException) => told(sqlText)(by(delegate))
        // A parameter has no value, and the statement is not read yet: it may have a clause.
        case Failure(error) =>
          Try(by(delegate)).recover { case _: ParseException => throw error }.get
      }
    }

  /** Spark's error, or where a clause of ours is nearly right, what was meant. */
  private def told(sqlText: String, isAsked: ParseException => Boolean = _ => true)(
      plan: => LogicalPlan
  ): LogicalPlan =
    try plan
    catch {
      case mistake: ParseException if isAsked(mistake) =>
        val text = mistake.command.getOrElse(new VariableSubstitution().substitute(sqlText))
        throw Try(ClauseMistakes.told(text, mistake)).getOrElse(mistake)
    }

  override def parseExpression(sqlText: String): Expression = delegate.parseExpression(sqlText)

  override def parseTableIdentifier(sqlText: String): TableIdentifier =
    delegate.parseTableIdentifier(sqlText)

  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)

  override def parseMultipartIdentifier(sqlText: String): Seq[String] =
    delegate.parseMultipartIdentifier(sqlText)

  override def parseTemporalTableIdentifier(
      sqlText: String
  ): org.apache.spark.sql.catalyst.parser.TemporalIdentifier =
    delegate.parseTemporalTableIdentifier(sqlText)

  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)

  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)

  override def parseRoutineParam(sqlText: String): StructType =
    delegate.parseRoutineParam(sqlText)

  override def splitStatements(sqlText: String): SqlStatementSplitResult =
    delegate.splitStatements(sqlText)
}

object PlaitParser {

  /** The plan, unless a clause that was set aside is not in it. */
  private def checked(plan: LogicalPlan, clauses: Clauses): LogicalPlan = {
    for (clause <- clauses.unused)
      throw ClauseError(
        "MATCH_CONDITION belongs to an ASOF JOIN of a query, and no join of this statement has taken it up",
        clause.word
      )
    plan.foreachWithSubqueries {
      case AtSystemTime(time, _) => throw ClauseBuilder.notOfJoin(time.value)
      case _ => ()
    }
    plan
  }

  /** Does the statement not fit Spark's grammar? Of a clause that we have read, we have said all. */
  private def isOfGrammar(mistake: ParseException): Boolean =
    mistake.getCondition.startsWith("PARSE_SYNTAX_ERROR")

  /** Reads every statement by Spark's grammar, and notes of which clauses it has. */
  def of(clauses: Clauses): ClauseParser =
    new ClauseParser(clauses.setAside, new ClauseBuilder(clauses))
}
