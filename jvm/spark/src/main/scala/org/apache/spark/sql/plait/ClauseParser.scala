// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.parser.{ParameterContext, PositionMapper, SqlBaseParser}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.{SparkSqlAstBuilder, SparkSqlParser}
import org.apache.spark.sql.internal.VariableSubstitution

/** Spark's own parser, which looks at the tokens of a statement before it reads them, and hands what it
  * has read to a builder of ours. Variables and parameters are put in before.
  *
  * It stands in this package because Spark shows the method that parses only there.
  *
  * @param prepare
  *   may hide tokens; called again where the parser tries a second way
  */
final class ClauseParser(prepare: SqlBaseParser => Unit, builder: SparkSqlAstBuilder)
    extends SparkSqlParser {
  override val astBuilder: SparkSqlAstBuilder = builder

  override protected[sql] def parse[T](command: String)(toResult: SqlBaseParser => T): T =
    super.parse(command)(prepared(toResult))

  override def parseWithParameters[T](command: String, parameters: ParameterContext)(
      toResult: SqlBaseParser => T
  ): T = super.parseWithParameters(command, parameters)(prepared(toResult))

  /** The plan of a statement after its parameters, where the user's own text is still pointed at. */
  def parsePlanSubstituted(
      text: String,
      substitute: String => (String, PositionMapper)
  ): LogicalPlan = {
    val (whole, positions) = substitute(new VariableSubstitution().substitute(text))
    if (whole == text) parsePlan(text)
    else {
      val here = CurrentOrigin.get.copy(
        sqlText = Some(whole),
        startIndex = Some(0),
        stopIndex = Some(whole.length - 1),
        positionMapper = Some(positions)
      )
      CurrentOrigin.withOrigin(here)(parsePlan(whole))
    }
  }

  private def prepared[T](toResult: SqlBaseParser => T): SqlBaseParser => T = { parser =>
    prepare(parser)
    toResult(parser)
  }
}
