// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

import plait.spark.PlaitConf
import plait.spark.plan.PlaitJoinHint

/** Turns Plait's hints into Spark's resolved ones on the relations that they name.
  *
  * {{{
  * SELECT /*+ SYMMETRIC_HASH(a, b) */ ... FROM t a JOIN u b ON ...      both a and b are hinted
  * df.hint("SYMMETRIC_HASH")                                            the whole of df is
  * RANGE_JOIN(t, 10)                                                    taken, and of no use here
  * }}}
  *
  * A name that stands for no relation of its query is an error. With `spark.plait.enabled=false` the
  * hints are unknown to Spark, which warns of them.
  */
object HintResolution extends Rule[LogicalPlan] {
  private val hints =
    Seq(PlaitJoinHint.SYMMETRIC_HASH, PlaitJoinHint.NO_SYMMETRIC_HASH)
      .map(h => h.displayName -> h)
      .toMap
  private val acceptedOfOthers = Set("RANGE_JOIN")

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!PlaitConf(SQLConf.get).enabled) plan
    else
      plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_HINT)) {
        case UnresolvedHint(name, parameters, child) if hints.contains(upper(name)) =>
          resolved(upper(name), parameters.map(nameOf(name, _)), child)
        case UnresolvedHint(name, _, child) if acceptedOfOthers.contains(upper(name)) => child
      }

  private def upper(name: String): String = name.toUpperCase(Locale.ROOT)

  private def resolved(name: String, relations: Seq[Seq[String]], child: LogicalPlan) = {
    val hint = HintInfo(strategy = Some(hints(name)))
    if (relations.isEmpty) ResolvedHint(child, hint)
    else
      relations.foldLeft(child) { (plan, relation) =>
        val hinted = marked(plan, relation, hint)
        if (hinted eq plan) throw unknown(name, relation, plan)
        hinted
      }
  }

  private def nameOf(hint: String, parameter: Any): Seq[String] = parameter match {
    case attribute: UnresolvedAttribute => attribute.nameParts
    case Literal(text, _: StringType) if text != null =>
      UnresolvedAttribute.parseAttributeName(text.toString)
    case text: String => UnresolvedAttribute.parseAttributeName(text)
    case other =>
      val shown = other match { case e: Expression => e.sql; case value => value.toString }
      throw new IllegalArgumentException(
        s"The hint $hint takes names of relations, as in $hint(a, b), not $shown."
      )
  }

  /** The plan with a hint on each relation of this name, or the very plan if there is none. */
  private def marked(plan: LogicalPlan, name: Seq[String], hint: HintInfo): LogicalPlan =
    plan match {
      case named if namesOf(named).exists(endsWith(_, name)) => ResolvedHint(named, hint)
      case ResolvedHint(named, other) if namesOf(named).exists(endsWith(_, name)) =>
        ResolvedHint(named, other.merge(hint, conf.hintErrorHandler))
      case inner if isQueryOfItsOwn(inner) => inner
      case other => other.mapChildren(marked(_, name, hint))
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
    case _: SubqueryAlias | _: View | _: UnresolvedWith | _: ResolvedHint => true
    case _ => false
  }

  private def unknown(hint: String, name: Seq[String], plan: LogicalPlan) = {
    def all(p: LogicalPlan): Seq[String] = p match {
      case ResolvedHint(named, _) => all(named)
      case named if namesOf(named).isDefined => Seq(namesOf(named).get.last)
      case inner if isQueryOfItsOwn(inner) => Nil
      case other => other.children.flatMap(all)
    }
    val known = all(plan).distinct
    new IllegalArgumentException(
      s"The hint $hint names ${name.mkString(".")}, but the relations of its query are " +
        s"${if (known.isEmpty) "none" else known.mkString(", ")}."
    )
  }
}
