// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.analysis.{NameParameterizedQuery, PosParameterizedQuery}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{
  NamedParameterContext,
  ParameterContext,
  ParserInterface,
  PositionalParameterContext
}
import org.apache.spark.sql.catalyst.plans.logical.{CompoundBody, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.functions.lit

/** The steps of `SparkSession.sql`, one by one: a statement is parsed with its parameters, then analysed, and
  * not run.
  *
  * It stands in this package because Spark shows what puts parameters in, and defaults, only there.
  */
object StatementReading {

  def parsed(
      session: SparkSession,
      text: String,
      named: Map[String, Any],
      positional: Seq[Any]
  ): LogicalPlan = session.withActive {
    if (named.nonEmpty && positional.nonEmpty)
      throw new IllegalArgumentException(
        "A statement takes named parameters or positional ones, not both"
      )
    if (positional.isEmpty) byName(session, text, named) else byPosition(session, text, positional)
  }

  def analysed(session: SparkSession, plan: LogicalPlan): LogicalPlan = session.withActive {
    val execution = session.sessionState.executePlan(plan)
    execution.assertAnalyzed()
    execution.analyzed
  }

  /** The defaults in the parameters of a function in SQL, as they were written. */
  def defaults(parser: ParserInterface, parameters: String): Seq[String] =
    parser.parseRoutineParam(parameters).fields.toSeq.flatMap(_.getDefault())

  private def byName(session: SparkSession, text: String, values: Map[String, Any]): LogicalPlan = {
    val context = NamedParameterContext(resolved(session, values))
    read(session, text, context, values.size)(NameParameterizedQuery(_, context.params))
  }

  private def byPosition(session: SparkSession, text: String, values: Seq[Any]): LogicalPlan = {
    val names = values.indices.map(i => s"_pos_$i")
    val byName = resolved(session, names.zip(values).toMap)
    val context = PositionalParameterContext(names.map(byName))
    read(session, text, context, values.size)(PosParameterizedQuery(_, context.params))
  }

  /** Before Spark put parameters into the text, it bound them in the analysis; a setting asks for that. */
  private def read(session: SparkSession, text: String, context: ParameterContext, count: Int)(
      bound: LogicalPlan => LogicalPlan
  ): LogicalPlan = session.sessionState.sqlParser.parsePlanWithParameters(text, context) match {
    case script: CompoundBody => script
    case plan if count > 0 && session.sessionState.conf.legacyParameterSubstitutionConstantsOnly =>
      bound(plan)
    case plan => plan
  }

  private def resolved(session: SparkSession, values: Map[String, Any]): Map[String, Expression] =
    session.resolveAndValidateParameters(
      values.map { case (name, value) => name -> session.expression(lit(value)) }
    )
}
