// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Ascending, Expression, Literal, SortOrder}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StringType

import plait.spark.plan.VersionTable

/** The hints that say what a relation's versions are:
  *
  * {{{
  * VERSIONED(r, valid_from [, tie ...])         VERSION_KEY(r, currency [, ...])
  * VERSION_DELETED(r, (op = '-D'))
  * }}}
  *
  * The first parameter is a relation if the query has one of that name; without it, the hint is of the
  * only relation.
  */
object VersionHint {
  val Names: Set[String] = Set("VERSIONED", "VERSION_KEY", "VERSION_DELETED")

  def resolved(hint: String, parameters: Seq[Any], child: LogicalPlan): LogicalPlan = {
    val named = parameters.headOption
      .flatMap(HintedRelations.name)
      .filter(name => !child.resolved && HintedRelations.isAny(name, child))
    val rest = if (named.isDefined) parameters.drop(1) else parameters
    def said(plan: LogicalPlan) = made(hint, rest, parameters, plan)
    named match {
      case Some(name) => HintedRelations.changed(hint, name, child)(said)
      case None if child.resolved =>
        throw new IllegalArgumentException(
          s"The hint $hint belongs into the query that has FOR SYSTEM_TIME AS OF, as /*+ $hint(relation, ...) */: on " +
            "a DataFrame it is not supported yet, because it is forgotten once the DataFrame is analysed."
        )
      case None =>
        HintedRelations.all(child) match {
          case Seq(only) => HintedRelations.changed(hint, Seq(only), child)(said)
          case several => throw unnamed(hint, parameters, several)
        }
    }
  }

  private def made(
      hint: String,
      parameters: Seq[Any],
      written: Seq[Any],
      plan: LogicalPlan
  ): VersionTable = {
    if (parameters.isEmpty) throw wrong(hint, written)
    def expressions = parameters.map(p => expression(p).getOrElse(throw wrong(hint, written)))
    val none = VersionTable(None, Nil, Nil, None, plan)
    hint match {
      case "VERSION_KEY" => none.copy(keys = expressions)
      case "VERSION_DELETED" if parameters.size == 1 => none.copy(deleted = expressions.headOption)
      case "VERSIONED" =>
        val ties = parameters.drop(1).map(p => order(p).getOrElse(throw wrong(hint, written)))
        none.copy(since = expressions.headOption, ties = ties)
      case _ => throw wrong(hint, written)
    }
  }

  /** Texts are parsed; a DataFrame's hint has nothing else. */
  def expression(parameter: Any): Option[Expression] = parameter match {
    case Literal(text, _: StringType) if text != null => expression(text.toString)
    case text: String => Try(CatalystSqlParser.parseExpression(text)).toOption
    case _: Literal => None
    case expression: Expression => Some(expression)
    case _ => None
  }

  def order(parameter: Any): Option[SortOrder] = parameter match {
    case Literal(text, _: StringType) if text != null => order(text.toString)
    case text: String => DeclaredOrder.order(text)
    case _ => expression(parameter).map(SortOrder(_, Ascending))
  }

  private def unnamed(hint: String, parameters: Seq[Any], relations: Seq[String]) = {
    val first = parameters.headOption.fold("nothing")(HintedRelations.shown)
    new IllegalArgumentException(
      s"The hint $hint must name the relation whose rows are versions, one of " +
        s"${relations.mkString(", ")}; it names $first first."
    )
  }

  private def wrong(hint: String, parameters: Seq[Any]) = new IllegalArgumentException(
    s"The hint $hint was ${parameters.map(HintedRelations.shown).mkString(s"$hint(", ", ", ")")}. It is " +
      "VERSIONED(relation, time [, tie, ...]), VERSION_KEY(relation, column, ...) or " +
      "VERSION_DELETED(relation, (condition))."
  )
}
