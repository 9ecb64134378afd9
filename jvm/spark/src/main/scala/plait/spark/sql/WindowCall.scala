// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Try}

import org.antlr.v4.runtime.ParserRuleContext
import org.antlr.v4.runtime.tree.ParseTree
import org.apache.spark.sql.catalyst.analysis.{
  ExpressionWithUnresolvedIdentifier,
  PlanWithUnresolvedIdentifier,
  UnresolvedAttribute,
  UnresolvedFunction,
  UnresolvedRelation
}
import org.apache.spark.sql.catalyst.expressions.{Expression, ScalarSubquery}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.parser.SqlBaseParser._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias}

import plait.spark.plan.{Carried, ClauseError, UnfitWindowCall, WindowFunction, WindowedTable}

/** A call of a window function, read from the tree of Spark's grammar.
  *
  * {{{
  * TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL 1 MINUTE)        t may be TABLE(t), (SELECT ...), TABLE (SELECT ...)
  * TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL 1 MINUTE)
  * TUMBLE(t, ts, INTERVAL 1 MINUTE)                          or another's function over two columns
  * }}}
  *
  *   1. Arguments come in their sequence, then by name; SIZE may be said for the GAP of SESSION.
  *   1. The keys of SESSION are those of PARTITION BY or of a second DESCRIPTOR. Spark's grammar takes the
  *      arguments after PARTITION BY for more keys; keys end where the first DESCRIPTOR stands.
  *   1. A DESCRIPTOR says that a call is one of ours. Without one a function of the user comes first.
  */
final class WindowCall private (
    val function: WindowFunction,
    call: TableFunctionCallContext,
    private val arguments: Seq[WindowCall.Argument]
) {
  import WindowCall._

  /** Spark would refuse `TABLE t` without parentheses. */
  def isCertain: Boolean = arguments.exists {
    case Argument(_, e: ExpressionContext) => isDescriptor(e)
    case Argument(_, t: FunctionTableSubqueryArgumentContext) => t.LEFT_PAREN == null
    case _ => false
  }

  /** @param instead
    *   the same call as Spark understands it, where a function of the user may be meant; its arguments need not be
    *   those of the window function
    */
  def plan(builder: ClauseBuilder, instead: Option[LogicalPlan]): LogicalPlan =
    (instead, Try(bound)) match {
      case (Some(other), Failure(why: ParseException)) =>
        UnfitWindowCall(function, new Carried(why), new Carried(other))
      case (_, byName) => planned(builder, instead, byName.get)
    }

  private def planned(
      builder: ClauseBuilder,
      instead: Option[LogicalPlan],
      byName: Map[String, Argument]
  ): LogicalPlan = {
    val table = byName("DATA")
    val partition = partitioning(table.value)
    val keys = byName.get("KEY").fold(Seq.empty[Expression])(columns(builder, _)) ++
      partition.toSeq.flatMap(keysOf).map(builder.expressionOf)
    val lengths = function.lengths.map(name => builder.expressionOf(byName(name).value))
    val time = columns(builder, byName("TIMECOL")) match {
      case Seq(column) => column
      case _ => fail("TIMECOL must be one column", byName("TIMECOL").value)
    }
    WindowedTable(
      function,
      time,
      keys,
      lengths,
      byName.get("OFFSET").map(o => builder.expressionOf(o.value)),
      instead.map(new Carried(_)),
      relation(builder, table)
    )
  }

  /** The arguments by their names. */
  private def bound: Map[String, Argument] = {
    val (positional, named) = arguments.span(_.name.isEmpty)
    val names = function.arguments.filter(name =>
      !function.keys.contains(name) || positional.lift(2).exists(a => isDescriptor(a.value))
    )
    positional
      .drop(names.size)
      .foreach(a => fail(s"takes ${function.arguments.size} arguments at most", a.value))
    val all = names.zip(positional) ++ named.map(a => nameOf(a) -> a)
    for ((name, same) <- all.groupBy(_._1) if same.size > 1)
      fail(s"has more than one $name", same.last._2.value)
    val optional = function.keys ++ function.offset
    val missing =
      function.arguments.filterNot(n => optional.exists(_ == n) || all.exists(_._1 == n))
    if (missing.nonEmpty)
      fail(s"lacks ${lacking(all.toMap, missing).mkString(", ")}", call)
    all.toMap
  }

  /** A length where the column should be says that the column is missing, and not what comes last. */
  private def lacking(all: Map[String, Argument], missing: Seq[String]): Seq[String] =
    all.get("TIMECOL").map(_.value) match {
      case Some(e: ExpressionContext) if !isDescriptor(e) && !isName(e) =>
        Seq("DESCRIPTOR(column)")
      case _ => missing
    }

  private def nameOf(argument: Argument): String = {
    val written = argument.name
      .getOrElse(fail("has an argument without a name after one with a name", argument.value))
      .toUpperCase(Locale.ROOT)
    val name = if (written == "SIZE" && function == WindowFunction.Session) "GAP" else written
    if (function.arguments.contains(name)) name
    else
      fail(
        s"has no argument $written, but ${function.arguments.mkString(", ")}",
        argument.value
      )
  }

  private def relation(builder: ClauseBuilder, table: Argument): LogicalPlan = table.value match {
    case t: FunctionTableSubqueryArgumentContext =>
      Option(t.identifierReference).fold(unnamed(builder.queryOf(t.query)))(builder.relationOf)
    case other =>
      builder.expressionOf(other) match {
        case name: UnresolvedAttribute => UnresolvedRelation(name.nameParts)
        case ExpressionWithUnresolvedIdentifier(name, Nil, _) =>
          PlanWithUnresolvedIdentifier(name, Nil, (parts, _) => UnresolvedRelation(parts))
        case query: ScalarSubquery => unnamed(query.plan)
        case _ => fail("needs a table: TABLE t or (SELECT ...)", other)
      }
  }

  /** The columns of DESCRIPTOR(a, b), or the one that stands alone. */
  private def columns(builder: ClauseBuilder, argument: Argument): Seq[Expression] = {
    val written = argument.value match {
      case e: ExpressionContext =>
        builder.expressionOf(e) match {
          case UnresolvedFunction(Seq(_), columns, _, _, _, _, _) if isDescriptor(e) => columns
          case column => Seq(column)
        }
      case _ => Seq.empty
    }
    if (written.isEmpty || !written.forall(isColumn))
      fail("names its columns by DESCRIPTOR(column)", argument.value)
    written
  }

  private def isColumn(e: Expression): Boolean = e match {
    case _: UnresolvedAttribute => true
    case ExpressionWithUnresolvedIdentifier(_, Nil, _) => true
    case _ => false
  }

  private def partitioning(table: ParserRuleContext): Option[TableArgumentPartitioningContext] =
    WindowCall.partitioning(table).map { p =>
      if (!p.sortItem.isEmpty || p.SINGLE != null || function.keys.isEmpty)
        fail(
          if (function.keys.isEmpty) "takes no PARTITION BY: its windows are the same for all rows"
          else "takes PARTITION BY alone: it orders by its time column",
          p
        )
      p
    }

  private def fail(sentence: String, at: ParserRuleContext): Nothing =
    throw ClauseError(
      s"${function.name} $sentence. It is written ${function.name}(${usage(function)})",
      at.getStart
    )
}

object WindowCall {

  /** @param value
    *   an expression or a table
    */
  final private case class Argument(name: Option[String], value: ParserRuleContext)

  def of(context: TableFunctionCallWithTrailingClausesContext): Option[WindowCall] = {
    val call = context.tableFunctionCall
    for {
      function <- WindowFunction.named(call.funcName.getText)
      read = new WindowCall(
        function,
        call,
        call.functionTableArgument.asScala.flatMap(written).toSeq
      )
      if read.isCertain || !isLateral(context) && startsWithTable(read)
    } yield read
  }

  private def written(argument: FunctionTableArgumentContext): Seq[Argument] =
    Option(argument.functionTableReferenceArgument) match {
      case Some(table) =>
        val named = Option(table.functionTableNamedArgumentExpression)
        val value =
          named.fold(table.functionTableSubqueryArgument)(_.functionTableSubqueryArgument)
        val further = partitioning(value).toSeq.flatMap(argumentsOf).map(Argument(None, _))
        Argument(named.map(_.key.getText), value) +: further
      case None =>
        val plain = argument.functionArgument
        Seq(Option(plain.namedArgumentExpression) match {
          case Some(named) => Argument(Some(named.key.getText), named.value)
          case None => Argument(None, plain.expression)
        })
    }

  private def startsWithTable(call: WindowCall): Boolean = call.arguments.headOption.exists {
    case Argument(_, e: ExpressionContext) => isName(e) || isQuery(e)
    case _ => true
  }

  /** A name and nothing else: `my-table` or db.`my-table` in backquotes, too, or IDENTIFIER('my-table'). */
  private def isName(tree: ParseTree): Boolean = tree match {
    case call: FunctionCallContext => call.functionName.identFunc != null
    case _: ColumnReferenceContext => true
    case part: DereferenceContext => isName(part.base)
    case only if only.getChildCount == 1 => isName(only.getChild(0))
    case _ => false
  }

  private def isQuery(e: ExpressionContext): Boolean =
    e.getStart.getType == LEFT_PAREN && Set("SELECT", "WITH", "VALUES", "FROM", "TABLE")
      .exists(word => e.getText.toUpperCase(Locale.ROOT).startsWith("(" + word))

  private def isDescriptor(e: ParserRuleContext): Boolean =
    e.getText.toUpperCase(Locale.ROOT).startsWith("DESCRIPTOR(")

  /** A lateral function is given columns of the relations before it, never a table. */
  private def isLateral(context: TableFunctionCallWithTrailingClausesContext): Boolean =
    context.getParent.getParent match {
      case relation: RelationContext => relation.LATERAL != null
      case join: JoinRelationContext => join.LATERAL != null
      case _ => false
    }

  private def partitioning(table: ParserRuleContext): Option[TableArgumentPartitioningContext] =
    table match {
      case t: FunctionTableSubqueryArgumentContext => Option(t.tableArgumentPartitioning)
      case _ => None
    }

  private def keysOf(partition: TableArgumentPartitioningContext): Seq[ExpressionContext] =
    partition.expression().asScala.takeWhile(!isDescriptor(_)).toSeq

  private def argumentsOf(partition: TableArgumentPartitioningContext): Seq[ExpressionContext] =
    partition.expression().asScala.dropWhile(!isDescriptor(_)).toSeq

  /** As Spark names a query without a name; the names inside are not seen outside. */
  private def unnamed(query: LogicalPlan): LogicalPlan =
    SubqueryAlias(SubqueryAlias.generateSubqueryName(), query)

  private def usage(function: WindowFunction): String = {
    val keys = function.keys.fold("")(_ => " [PARTITION BY key]")
    val offset = function.offset.fold("")(o => s" [, $o]")
    s"TABLE t$keys, DESCRIPTOR(column), ${function.lengths.mkString(", ")}$offset"
  }
}
