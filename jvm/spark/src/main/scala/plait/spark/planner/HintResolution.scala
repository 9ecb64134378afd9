// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.Locale

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT
import org.apache.spark.sql.internal.SQLConf

import plait.spark.PlaitConf
import plait.spark.plan.PlaitJoinHint

/** Turns Plait's hints into Spark's resolved ones, or into nodes, on the relations that they name.
  *
  * {{{
  * SELECT /*+ SYMMETRIC_HASH(a, b) */ ... FROM t a JOIN u b ON ...      both a and b are hinted
  * df.hint("SYMMETRIC_HASH")                                            the whole of df is
  * ORDERED(a, seq)                                                      see OrderedHint
  * VERSIONED(r, t) VERSION_KEY(r, k) VERSION_DELETED(r, (op = '-D'))    see VersionHint
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
          resolved(upper(name), parameters.map(relation(name, _)), child)
        case UnresolvedHint(name, parameters, child) if upper(name) == OrderedHint.Name =>
          OrderedHint.resolved(parameters, child)
        case UnresolvedHint(name, parameters, child) if VersionHint.Names.contains(upper(name)) =>
          VersionHint.resolved(upper(name), parameters, child)
        case UnresolvedHint(name, _, child) if acceptedOfOthers.contains(upper(name)) => child
      }

  private def upper(name: String): String = name.toUpperCase(Locale.ROOT)

  private def resolved(name: String, relations: Seq[Seq[String]], child: LogicalPlan) = {
    val hint = HintInfo(strategy = Some(hints(name)))
    if (relations.isEmpty) ResolvedHint(child, hint)
    else
      relations.foldLeft(child) { (plan, relation) =>
        HintedRelations.changed(name, relation, plan) {
          case ResolvedHint(named, other) =>
            ResolvedHint(named, other.merge(hint, conf.hintErrorHandler))
          case named => ResolvedHint(named, hint)
        }
      }
  }

  private def relation(hint: String, parameter: Any): Seq[String] =
    HintedRelations.name(parameter).getOrElse {
      throw new IllegalArgumentException(
        s"The hint $hint takes names of relations, as in $hint(a, b), not " +
          s"${HintedRelations.shown(parameter)}."
      )
    }
}
