// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.Locale
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DayTimeIntervalType, NumericType, YearMonthIntervalType}

import plait.spark.plan.{PlaitJoinHint, RangeJoinHint}
import plait.spark.{PlaitConf, Spelling}

/** Turns Plait's hints into Spark's resolved ones, or into nodes, on the relations that they name.
  *
  * {{{
  * SELECT /*+ SYMMETRIC_HASH(a, b) */ ... FROM t a JOIN u b ON ...      both a and b are hinted
  * df.hint("SYMMETRIC_HASH")                                            the whole of df is
  * ORDERED(a, seq)                                                      see OrderedHint
  * BOUNDED(a) STATE_TTL(a, INTERVAL 1 DAY)                         see BoundedHint, StateTtlHint
  * VERSIONED(r, t) VERSION_KEY(r, k) VERSION_DELETED(r, (op = '-D'))    see VersionHint
  * RANGE_JOIN(t, 10)                                                    taken, and of no use here
  * }}}
  *
  * A name that stands for no relation of its query is an error. Of a hint that is nobody's Spark warns, and Plait, once,
  * if it is nearly one of Plait's. With `spark.plait.enabled=false` the
  * hints are unknown to Spark, which warns of them.
  */
object HintResolution extends Rule[LogicalPlan] {
  private val told = ConcurrentHashMap.newKeySet[String]()
  private val strategies =
    Seq(PlaitJoinHint.SYMMETRIC_HASH, PlaitJoinHint.NO_SYMMETRIC_HASH)
      .map(h => h.displayName -> h)
      .toMap
  private val RangeJoin = "RANGE_JOIN"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!PlaitConf(SQLConf.get).enabled) plan
    else
      plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_HINT)) {
        case hint: UnresolvedHint => resolved(upper(hint.name), hint)
      }

  private def upper(name: String): String = name.toUpperCase(Locale.ROOT)

  private def resolved(name: String, hint: UnresolvedHint): LogicalPlan =
    if (strategies.contains(name)) {
      if (hint.parameters.isEmpty && !HintedRelations.isOfDataFrame(hint)) throw nameless(name)
      val info = HintInfo(strategy = Some(strategies(name)))
      marked(name, hint.parameters, hint.child)(_.merge(info, conf.hintErrorHandler))
    } else if (name == RangeJoin)
      marked(name, withoutBin(hint), hint.child)(RangeJoinHint.on)
    else if (name == OrderedHint.Name) OrderedHint.resolved(hint)
    else if (name == BoundedHint.Name) BoundedHint.resolved(hint)
    else if (VersionHint.Names.contains(name)) VersionHint.resolved(name, hint)
    else if (name == StateTtlHint.Name) StateTtlHint.resolved(hint)
    else if (name.startsWith("VERSION")) throw unknown(name)
    else {
      warnOf(name)
      hint
    }

  private lazy val names: Seq[String] =
    (strategies.keySet ++ VersionHint.Names + RangeJoin + OrderedHint.Name + BoundedHint.Name +
      StateTtlHint.Name).toSeq.sorted

  /** Spark has hints of its own, which are resolved later. */
  private def warnOf(name: String): Unit = {
    val meant = Spelling.asked(name, names)
    if (meant.nonEmpty && told.add(name))
      logWarning(
        s"There is no hint $name, and it does nothing.$meant Plait's hints are ${names.mkString(", ")}."
      )
  }

  /** The relations that are named, or the whole plan, with one more mark on them for Spark's optimizer. */
  private def marked(name: String, relations: Seq[Any], child: LogicalPlan)(
      mark: HintInfo => HintInfo
  ): LogicalPlan = {
    def on(plan: LogicalPlan) = plan match {
      case ResolvedHint(named, other) => ResolvedHint(named, mark(other))
      case named => ResolvedHint(named, mark(HintInfo()))
    }
    if (relations.isEmpty) on(child)
    else
      relations.map(relation(name, _)).foldLeft(child) { (plan, relation) =>
        HintedRelations.changed(name, relation, plan)(on)
      }
  }

  private def nameless(name: String) = new IllegalArgumentException(
    s"The hint $name must name relations of its query: $name(a, b), or $name(a) for each join of one."
  )

  private def relation(hint: String, parameter: Any): Seq[String] =
    HintedRelations.name(parameter).getOrElse {
      throw new IllegalArgumentException(
        s"The hint $hint takes names of relations, as in $hint(a, b), not " +
          s"${HintedRelations.shown(parameter)}."
      )
    }

  /** The relations of `RANGE_JOIN(t, 10)`. */
  private def withoutBin(hint: UnresolvedHint): Seq[Any] = hint.parameters match {
    case relations :+ bin if isBin(bin) && relations.size <= 1 => relations
    case other =>
      throw new IllegalArgumentException(
        "The hint RANGE_JOIN takes a relation and the size of a bin, which Plait does not need: RANGE_JOIN(r, 10). " +
          s"It was ${HintedRelations.written(RangeJoin, other)}."
      )
  }

  /** A number or an interval. */
  private def isBin(parameter: Any): Boolean = parameter match {
    case literal: Literal =>
      literal.value != null && (literal.dataType match {
        case _: NumericType | _: DayTimeIntervalType | _: YearMonthIntervalType => true
        case _ => false
      })
    case _: Number | _: java.time.Duration | _: java.time.Period => true
    case _ => false
  }

  /** Spark only warns of hints that it does not know; without one of these other rows would come. */
  private def unknown(name: String) = new IllegalArgumentException(
    s"There is no hint $name: what a relation's versions are is said by ${VersionHint.Names.toSeq.sorted.mkString(", ")}."
  )
}
