// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.parser.{ParameterContext, SqlBaseParser}
import org.apache.spark.sql.execution.{SparkSqlAstBuilder, SparkSqlParser}

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

  private def prepared[T](toResult: SqlBaseParser => T): SqlBaseParser => T = { parser =>
    prepare(parser)
    toResult(parser)
  }
}
