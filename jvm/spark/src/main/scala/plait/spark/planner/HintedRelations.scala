// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

import plait.spark.plan.Claim

/** The relations that a hint of a query names, before they are looked up: those of its FROM, not of
  * the queries in it.
  *
  * {{{
  * FROM db.t a JOIN u ON ... JOIN (SELECT * FROM v) w ON ...      a, u and w; not v
  * }}}
  */
object HintedRelations {

  /** The plan with `change` made to each relation of this name.
    * @throws IllegalArgumentException
    *   if there is none
    */
  def changed(hint: String, name: Seq[String], plan: LogicalPlan)(
      change: LogicalPlan => LogicalPlan
  ): LogicalPlan =
    if (isAny(name, plan)) in(plan, name, change) else throw unknown(hint, name, plan)

  /** The name that a parameter of a hint is: of a relation, or of a column. */
  def name(parameter: Any): Option[Seq[String]] = parameter match {
    case attribute: UnresolvedAttribute => Some(attribute.nameParts)
    case Literal(text, _: StringType) if text != null => parsed(text.toString)
    case text: String => parsed(text)
    case _ => None
  }

  private def parsed(text: String) =
    scala.util.Try(UnresolvedAttribute.parseAttributeName(text)).toOption

  /** How a parameter was written. */
  def shown(parameter: Any): String = parameter match {
    case e: Expression => e.sql
    case value => String.valueOf(value)
  }

  /** How a hint was written. */
  def written(hint: String, parameters: Seq[Any]): String =
    parameters.map(shown).mkString(s"$hint(", ", ", ")")

  /** What a DataFrame that is hinted as a whole is called, for people. */
  def nameOfWhole(plan: LogicalPlan): String = all(plan).headOption.getOrElse("the hinted rows")

  /** The last parts of the names of a query's relations. */
  def all(plan: LogicalPlan): Seq[String] = {
    def from(p: LogicalPlan): Seq[String] = p match {
      case ResolvedHint(named, _) => from(named)
      case claim: Claim => from(claim.child)
      case named if namesOf(named).isDefined => Seq(namesOf(named).get.last)
      case inner if isQueryOfItsOwn(inner) => Nil
      case other => other.children.flatMap(from)
    }
    from(plan).distinct
  }

  /** What relations of this name are called in the query, by which alone they are known there: `rates AS r`. */
  def aliasesOf(name: Seq[String], plan: LogicalPlan): Seq[String] = plan match {
    case ResolvedHint(named, _) => aliasesOf(name, named)
    case claim: Claim => aliasesOf(name, claim.child)
    case SubqueryAlias(alias, named) if isNamed(named, name) => Seq(alias.name)
    case inner if isQueryOfItsOwn(inner) => Nil
    case other => other.children.flatMap(aliasesOf(name, _))
  }

  /** A hint in a statement has its place there; one of a DataFrame has none, and where it names no relation it
    * is of all the rows, whose plan may not be resolved yet (Spark Connect).
    */
  def isOfDataFrame(hint: UnresolvedHint): Boolean = hint.origin.startIndex.isEmpty

  /** Has the query a relation of this name? */
  def isAny(name: Seq[String], plan: LogicalPlan): Boolean =
    in(plan, name, ResolvedHint(_, HintInfo())) ne plan

  private def in(
      plan: LogicalPlan,
      name: Seq[String],
      change: LogicalPlan => LogicalPlan
  ): LogicalPlan = plan match {
    case named if namesOf(named).exists(endsWith(_, name)) => change(named)
    case hinted @ (_: ResolvedHint | _: Claim) if isNamed(hinted.children.head, name) =>
      change(hinted)
    case inner if isQueryOfItsOwn(inner) => inner
    case other => other.mapChildren(in(_, name, change))
  }

  private def isNamed(plan: LogicalPlan, name: Seq[String]): Boolean = plan match {
    case hinted @ (_: ResolvedHint | _: Claim) =>
      isNamed(hinted.children.head, name)
    case other => namesOf(other).exists(endsWith(_, name))
  }

  private def namesOf(plan: LogicalPlan): Option[Seq[String]] = plan match {
    case relation: UnresolvedRelation => Some(relation.multipartIdentifier)
    case SubqueryAlias(identifier, _) => Some(identifier.qualifier :+ identifier.name)
    case view: View => Some(view.desc.identifier.nameParts)
    case _ => None
  }

  /** `a` stands for the table db.a too. */
  private def endsWith(name: Seq[String], wanted: Seq[String]): Boolean =
    name.size >= wanted.size &&
      name.takeRight(wanted.size).corresponds(wanted)(SQLConf.get.resolver(_, _))

  private def isQueryOfItsOwn(plan: LogicalPlan): Boolean = plan match {
    case _: SubqueryAlias | _: View | _: UnresolvedWith => true
    case _ => false
  }

  private def unknown(hint: String, name: Seq[String], plan: LogicalPlan) = {
    val known = all(plan)
    val written = name.mkString(".")
    val called = aliasesOf(name, plan).map(alias => s" $written is called $alias here.")
    new IllegalArgumentException(
      s"The hint $hint names $written, but the relations of its query are " +
        s"${if (known.isEmpty) "none" else known.mkString(", ")}.${called.mkString}"
    )
  }
}
