// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Ascending, Expression, Literal, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.types.StringType

import plait.spark.plan.HintNames

/** The hint `ORDERED(relation, order [, slack])`:
  *
  * {{{
  * ORDERED(l, seq)                              ORDERED(l, (a + b), 100)
  * ORDERED(l, 'seq DESC', INTERVAL 5 SECONDS)   df.hint("ORDERED", "seq DESC", 100)
  * }}}
  *
  * Without a relation it is the only one of the query, or the whole of a DataFrame. A parameter is
  * taken for what it can be: the last for the slack if it is a number or an interval, the first of what
  * is left for a relation if there are two.
  */
object OrderedHint {
  val Name: String = HintNames.Ordered

  def resolved(hint: UnresolvedHint): LogicalPlan = {
    val UnresolvedHint(_, parameters, child) = hint
    val slack = parameters.drop(1).lastOption.flatMap(DeclaredOrder.slack)
    (if (slack.isDefined) parameters.init else parameters) match {
      case Seq(order) => ofWhole(declared(order, slack, parameters), hint)
      case Seq(relation, order) =>
        val name = HintedRelations.name(relation).getOrElse(throw wrong(parameters))
        val claim = declared(order, slack, parameters)
        HintedRelations.changed(Name, name, child)(claim.on(_, name.mkString(".")))
      case _ => throw wrong(parameters)
    }
  }

  private def declared(order: Any, slack: Option[Expression], parameters: Seq[Any]) =
    DeclaredOrder(sortOrder(order).getOrElse(throw wrong(parameters)), slack)

  private def sortOrder(parameter: Any): Option[SortOrder] = parameter match {
    case Literal(text, _: StringType) if text != null => DeclaredOrder.order(text.toString)
    case text: String => DeclaredOrder.order(text)
    case _: Literal => None
    case order: SortOrder => Some(order)
    case expression: Expression => Some(SortOrder(expression, Ascending))
    case _ => None
  }

  private def ofWhole(claim: DeclaredOrder, hint: UnresolvedHint) =
    HintedRelations.all(hint.child) match {
      case _ if HintedRelations.isOfDataFrame(hint) =>
        claim.on(hint.child, HintedRelations.nameOfWhole(hint.child))
      case Seq(only) => HintedRelations.changed(Name, Seq(only), hint.child)(claim.on(_, only))
      case _ if isRelation(hint.parameters.head, hint.child) => throw orderless(hint.parameters)
      case several =>
        val example = several.headOption.map(name => s": ${written(name +: hint.parameters)}")
        throw new IllegalArgumentException(
          s"The hint ${written(hint.parameters)} must name the relation whose rows come in order, one of " +
            s"${several.mkString(", ")}${example.mkString}."
        )
    }

  private def isRelation(parameter: Any, query: LogicalPlan): Boolean =
    HintedRelations.name(parameter).exists(HintedRelations.isAny(_, query))

  private def orderless(parameters: Seq[Any]) = {
    val relation = HintedRelations.shown(parameters.head)
    val rest = (s"$relation, 'column'" +: parameters.tail.map(HintedRelations.shown)).mkString(", ")
    new IllegalArgumentException(
      s"The hint ${written(parameters)} names the relation $relation, and not the order in which its rows come: " +
        s"$Name($rest)."
    )
  }

  private def written(parameters: Seq[Any]): String =
    HintedRelations.written(Name, parameters)

  private def wrong(parameters: Seq[Any]) = new IllegalArgumentException(
    "The hint ORDERED takes a relation, an order and, where rows may come late, by how much, a number or an " +
      "interval that is not negative: ORDERED(l, seq), ORDERED(l, 'seq DESC', 100), " +
      s"ORDERED(l, (a + b), INTERVAL 5 SECONDS). It was ${written(parameters)}${wrongIn(parameters).mkString}."
  )

  /** Which of the parameters it is, where that can be told. */
  private def wrongIn(parameters: Seq[Any]): Option[String] = {
    def texts = parameters.collect {
      case Literal(text, _: StringType) if text != null => text.toString
      case text: String => text
    }
    val last = parameters.drop(1).lastOption
    if (parameters.isEmpty) Some(", without an order")
    else if (last.exists(isNoSlack))
      Some(s": a row cannot come late by ${HintedRelations.shown(last.get)}")
    else if (parameters.size == 3 && last.flatMap(DeclaredOrder.slack).isEmpty)
      Some(s": ${HintedRelations.shown(last.get)} is neither a number nor an interval")
    else
      texts
        .collectFirst {
          case text if DeclaredOrder.orders(text).isEmpty => s": '$text' is no order"
          case text if DeclaredOrder.order(text).isEmpty =>
            s": '$text' are several orders, and rows come in one"
        }
        .orElse(Option.when(parameters.size > 3)(s", which are ${parameters.size} parameters"))
  }

  /** A negative number or interval, or NULL. */
  private def isNoSlack(parameter: Any): Boolean = parameter match {
    case Literal(null, _) => true
    case literal: Literal =>
      literal.dataType != StringType && DeclaredOrder.slack(literal).isEmpty
    case number: java.lang.Number => DeclaredOrder.slack(number).isEmpty
    case _ => false
  }
}
