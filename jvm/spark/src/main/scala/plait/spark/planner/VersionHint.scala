// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.{MultiAlias, UnresolvedAlias}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{
  LogicalPlan,
  OneRowRelation,
  Project,
  ResolvedHint,
  UnresolvedHint
}
import org.apache.spark.sql.types.{BooleanType, StringType}

import plait.spark.plan.{Claim, HintNames, VersionTable}

/** The hints that say what a relation's versions are:
  *
  * {{{
  * VERSIONED(r, valid_from [, tie ...])         VERSION_KEY(r, currency [, ...])
  * VERSION_DELETED(r, (op = '-D'))
  * }}}
  *
  * The first of several parameters is a relation if the query has one of that name; without it, the hint is
  * of the only relation, or of all the rows of a DataFrame: `rates.hint("VERSIONED", "valid_from")`. Of hints on
  * a DataFrame the last holds; two in one statement that say different things of a relation are an error.
  */
object VersionHint {
  val Names: Set[String] = HintNames.Versions

  def resolved(name: String, hint: UnresolvedHint): LogicalPlan = {
    val UnresolvedHint(_, parameters, child) = hint
    // A column may be called as a relation is.
    val named = parameters.headOption
      .filter(_ => parameters.size > 1)
      .flatMap(HintedRelations.name)
      .filter(HintedRelations.isAny(_, child))
    val rest = if (named.isDefined) parameters.drop(1) else parameters
    def said(plan: LogicalPlan) = {
      val table = made(name, rest, parameters, plan)
      if (!HintedRelations.isOfDataFrame(hint))
        contradicted(table).foreach(other =>
          throw contradiction(HintedRelations.written(name, parameters), other)
        )
      table
    }
    if (isRelationAlone(hint)) throw nothingSaid(name, parameters.head)
    named match {
      case Some(relation) => HintedRelations.changed(name, relation, child)(said)
      case None if HintedRelations.isOfDataFrame(hint) => said(child)
      case None =>
        HintedRelations.all(child) match {
          case Seq(only) => HintedRelations.changed(name, Seq(only), child)(said)
          case several => throw unnamed(name, parameters, several, child)
        }
    }
  }

  /** In a statement, the name of a relation that has no column of this name, as far as it is known. */
  private def isRelationAlone(hint: UnresolvedHint): Boolean =
    !HintedRelations.isOfDataFrame(hint) && (hint.parameters match {
      case Seq(only) => HintedRelations.name(only).exists(HintedRelations.isAny(_, hint.child))
      case _ => false
    })

  private def made(
      hint: String,
      parameters: Seq[Any],
      written: Seq[Any],
      plan: LogicalPlan
  ): VersionTable = {
    if (parameters.isEmpty) throw wrong(hint, written)
    def expressions = parameters.map(p => expression(p).getOrElse(throw wrong(hint, written)))
    val none = VersionTable.none(plan)
    hint match {
      case "VERSION_KEY" => none.copy(keys = expressions)
      case "VERSION_DELETED" if parameters.size == 1 =>
        none.copy(deleted = constant(parameters.head).orElse(expressions.headOption))
      case "VERSIONED" =>
        val ties = parameters.drop(1).map(p => order(p).getOrElse(throw wrong(hint, written)))
        val since = expression(parameters.head).getOrElse(throw wrong(hint, written))
        none.copy(since = Some(since), ties = ties)
      case _ => throw wrong(hint, written)
    }
  }

  /** A hint directly on the same relation that says something else, as it could be written. */
  private def contradicted(table: VersionTable): Option[String] = {
    def hints(plan: LogicalPlan): Seq[(String, String)] = plan match {
      case below: VersionTable => below.hints ++ hints(below.child)
      case _: ResolvedHint | _: Claim => hints(plan.children.head)
      case _ => Nil
    }
    val own = table.hints.toMap
    hints(table.child).collectFirst {
      case (name, said) if own.get(name).exists(_ != said) => s"$name($said)"
    }
  }

  /** TRUE or FALSE: of all versions or of none. */
  private def constant(parameter: Any): Option[Expression] = parameter match {
    case literal @ Literal(_, BooleanType) => Some(literal)
    case truth: java.lang.Boolean => Some(Literal(truth.booleanValue))
    case _ => None
  }

  /** Texts are parsed; a DataFrame's hint has nothing else. */
  def expression(parameter: Any): Option[Expression] = parameter match {
    case Literal(text, _: StringType) if text != null => expression(text.toString)
    case text: String => Try(CatalystSqlParser.parseExpression(text)).toOption.flatMap(expression)
    case _: Literal | _: Alias | _: MultiAlias => None
    case expression: Expression => Some(expression)
    case _ => None
  }

  /** What a text lists: a comma may also stand in a name or in a call. */
  def expressions(text: String): Option[Seq[Expression]] =
    Try(CatalystSqlParser.parsePlan(s"SELECT $text")).toOption.flatMap {
      case Project(list, _: OneRowRelation) =>
        val parts = list.map {
          case UnresolvedAlias(child, _) => expression(child)
          case name => expression(name)
        }
        if (parts.forall(_.isDefined)) Some(parts.flatten) else None
      case _ => None
    }

  def order(parameter: Any): Option[SortOrder] = parameter match {
    case Literal(text, _: StringType) if text != null => order(text.toString)
    case text: String => DeclaredOrder.order(text)
    case _ => expression(parameter).map(SortOrder(_, Ascending))
  }

  private def unnamed(
      hint: String,
      parameters: Seq[Any],
      relations: Seq[String],
      query: LogicalPlan
  ) = {
    val first = parameters.headOption.fold("nothing")(HintedRelations.shown)
    val name = parameters.headOption.flatMap(HintedRelations.name)
    val fix = name.map(HintedRelations.aliasesOf(_, query)) match {
      case Some(aliases) if aliases.nonEmpty && parameters.size > 1 =>
        aliases
          .map(alias => s"$first is called $alias here: ${behind(hint, alias, parameters.tail)}")
          .mkString("; ")
      case Some(_) if parameters.size > 1 => insteadOrBefore(hint, first, parameters, relations)
      case _ => s"Name it before the rest${examples(hint, relations, parameters)}"
    }
    new IllegalArgumentException(
      s"The hint $hint must name the relation whose rows are versions, one of " +
        s"${relations.mkString(", ")}; it names $first first. $fix."
    )
  }

  /** The first parameter may be a relation's name that is wrong, or a column's before which the relation is missing.
    */
  private def insteadOrBefore(
      hint: String,
      first: String,
      parameters: Seq[Any],
      relations: Seq[String]
  ): String = {
    val instead = s"Name it instead of $first${examples(hint, relations, parameters.tail)}"
    if (hint == "VERSION_DELETED") instead
    else s"$instead; or before it, if $first is a column${examples(hint, relations, parameters)}"
  }

  private def examples(hint: String, relations: Seq[String], parameters: Seq[Any]): String =
    relations.lastOption.map(r => s": ${behind(hint, r, parameters)}").mkString

  private def behind(hint: String, relation: String, parameters: Seq[Any]): String = {
    val rest =
      if (parameters.isEmpty) example(hint)
      else parameters.map(HintedRelations.shown).mkString(", ")
    s"$hint($relation, $rest)"
  }

  private def nothingSaid(hint: String, relation: Any) = new IllegalArgumentException(
    s"The hint $hint(${HintedRelations.shown(relation)}) names a relation and says nothing of its versions: it is " +
      s"$hint(${HintedRelations.shown(relation)}, ${example(hint)})."
  )

  private def example(hint: String): String = hint match {
    case "VERSIONED" => "time [, tie, ...]"
    case "VERSION_KEY" => "column, ..."
    case _ => "(condition)"
  }

  private def contradiction(hint: String, other: String) = new IllegalArgumentException(
    s"The hints $hint and $other say different things of the same rows: leave one of them."
  )

  private def wrong(hint: String, parameters: Seq[Any]) = new IllegalArgumentException(
    s"The hint $hint was ${HintedRelations.written(hint, parameters)}. It is " +
      "VERSIONED(relation, time [, tie, ...]), VERSION_KEY(relation, column, ...) or " +
      "VERSION_DELETED(relation, (condition))."
  )
}
