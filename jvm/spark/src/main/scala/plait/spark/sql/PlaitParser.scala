// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{
  ParameterContext,
  ParserInterface,
  SqlStatementSplitResult
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}
import org.apache.spark.sql.plait.ClauseParser
import org.apache.spark.sql.types.{DataType, StructType}

import plait.spark.PlaitConf

/** The parser of a session: a statement that has a clause of ours is read by Spark's own grammar with
  * the clause set aside; every other goes to the parser that was there before, untouched.
  *
  * {{{
  * SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k          ours
  * SELECT * FROM t                                                                  as before
  * }}}
  *
  * No word of ours is reserved: each counts only where its clause stands.
  */
final class PlaitParser(delegate: ParserInterface) extends ParserInterface {

  override def parsePlan(sqlText: String): LogicalPlan = parserOf(sqlText).parsePlan(sqlText)

  override def parsePlanWithParameters(
      sqlText: String,
      parameters: ParameterContext
  ): LogicalPlan = parserOf(sqlText) match {
    case ours: ClauseParser if !SQLConf.get.legacyParameterSubstitutionConstantsOnly =>
      ours.parsePlanSubstituted(sqlText, ClauseParameters.substituted(_, parameters))
    case other => other.parsePlanWithParameters(sqlText, parameters)
  }

  override def parseQuery(sqlText: String): LogicalPlan = parserOf(sqlText).parseQuery(sqlText)

  /** Clauses are looked for where variables have been put in. */
  private def parserOf(sqlText: String): ParserInterface =
    if (!PlaitConf(SQLConf.get).enabled) delegate
    else if (Clauses.mayBeIn(new VariableSubstitution().substitute(sqlText))) {
      val clauses = new Clauses
      new ClauseParser(clauses.setAside, new ClauseBuilder(clauses))
    } else delegate

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
