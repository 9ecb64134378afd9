// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types._

import plait.spark.plan._

/** Says what `FOR SYSTEM_TIME AS OF` means, once the columns of both sides are known:
  *
  * {{{
  * o.c = r.c AND r.ok AND SystemTime(o.ts)          r versioned since r.t, deleted where r.op = '-D'
  *     o.c = r.c AND MatchCondition(o.ts >= r.t) AND AfterChoice(r.ok) AND AfterChoice(NOT (r.op = '-D' <=> TRUE))
  * }}}
  *
  * The version is chosen by its key and time alone; what else ON says is checked on the one chosen.
  *
  *   1. Key: the columns of VERSION_KEY, else all columns of the right side that an equality compares.
  *   2. Time: of VERSIONED, else the only column with a watermark, else the only one that is a timestamp.
  *   3. `PROCTIME()`: the newest version; all rows of a table that has no time.
  */
object ResolveSystemTime extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case join @ Join(left, right, joinType, Some(condition), _)
        if join.childrenResolved && condition.exists(_.isInstanceOf[SystemTime]) &&
          condition.resolved =>
      joinType match {
        case Inner | LeftOuter | LeftSemi | LeftAnti =>
          if (right.isStreaming && !left.isStreaming)
            throw ClauseError(AsOfJoinCheck.OfTable, join.origin)
          val on = chosen(condition, left, right).reduceOption(And(_, _))
          join.copy(right = ReadAnew.beside(left, SaidVersions.forgotten(right)), condition = on)
        case other =>
          throw ClauseError(
            s"FOR SYSTEM_TIME AS OF joins may be INNER, LEFT, LEFT SEMI or LEFT ANTI, not ${other.sql}",
            join.origin
          )
      }
  }

  private def chosen(condition: Expression, left: LogicalPlan, right: LogicalPlan) = {
    val conjuncts = splitConjunctivePredicates(condition)
    val time = conjuncts.collectFirst { case time: SystemTime => time }.get
    val on = conjuncts.filterNot(_ == time)
    val said = SaidVersions.of(right)
    said.lost.headOption.foreach(lost => throw noLongerSaid(lost, time))
    gone(said, right).foreach(column => throw noColumn(column, right, time))
    said.deleted.filter(_.dataType != BooleanType).foreach(d => throw noCondition(d, time))
    time.time.filter(_.references.isEmpty).foreach(constant => throw noTimeOfRow(constant, time))
    time.time.filter(isOf(right)).foreach(at => throw noTimeOfLeft(at, time))
    since(said, right, time) match {
      case None if time.time.isEmpty =>
        // Without a time all rows are the newest of their keys.
        open(said, on.filter(isKey(_, said, left, right))).foreach(key => throw openKey(key, time))
        on ++ said.deleted.map(d => Not(EqualNullSafe(d, Literal.TrueLiteral)))
      case None => throw noTime(right, time)
      case Some(from) =>
        val (keys, checks) = on.partition(isKey(_, said, left, right))
        if (keys.isEmpty) throw noKey(said, on, time)
        open(said, keys).foreach(key => throw openKey(key, time))
        time.time.filterNot(isLike(from, _)).foreach(at => throw otherType(at, from, time))
        val deleted = said.deleted.map(d => Not(EqualNullSafe(d, Literal.TrueLiteral)))
        keys ++ Seq(matched(time, from, said.ties)) ++ (checks ++ deleted).map(AfterChoice(_))
    }
  }

  private def matched(time: SystemTime, since: Expression, ties: Seq[SortOrder]) =
    time.time match {
      case Some(at) =>
        MatchCondition(MatchRule.Compared, GreaterThanOrEqual(at, since), None, ties)
      case None =>
        MatchCondition(MatchRule.Newest, GreaterThanOrEqual(since, since), None, ties)
    }

  private def since(said: VersionTable, right: LogicalPlan, time: SystemTime): Option[Expression] =
    said.since.orElse {
      val watermarked = right.output.filter(_.metadata.contains(EventTimeWatermark.delayKey))
      val timestamps = right.output.filter { column =>
        column.dataType == TimestampType || column.dataType == TimestampNTZType
      }
      (watermarked, timestamps) match {
        case (Seq(only), _) => Some(only)
        case (_, Seq(only)) => Some(only)
        case (_, Nil) => None
        case (_, several) =>
          throw ClauseError(
            "FOR SYSTEM_TIME AS OF must know from when on a version is valid, and there are several columns " +
              s"with a time: ${several.map(_.name).mkString(", ")}. Name one with the hint VERSIONED(relation, " +
              "column) or the table property plait.version-time",
            time.origin
          )
      }
    }

  private def isKey(
      conjunct: Expression,
      said: VersionTable,
      left: LogicalPlan,
      right: LogicalPlan
  ): Boolean = conjunct match {
    case Equality(a, b) =>
      def across(l: Expression, r: Expression) =
        l.references.subsetOf(left.outputSet) && r.references.nonEmpty &&
          r.references.subsetOf(right.outputSet) &&
          (said.keys.isEmpty || said.keys.exists(isCompared(_, r)))
      // A constant names one key, and chooses among no versions of several, where the keys are known.
      val hasLeft = said.keys.nonEmpty || (a.references.nonEmpty && b.references.nonEmpty)
      hasLeft && (across(a, b) || across(b, a))
    case _ => false
  }

  /** Is this what is compared, perhaps as another type, as Spark would have it? A cast may be a part of the
    * key, and one that is written and not a part of it may make one value of two keys.
    */
  private def isCompared(key: Expression, e: Expression): Boolean =
    e.semanticEquals(key) || (e match {
      case ImplicitCast(child) => isCompared(key, child)
      case _ => false
    })

  /** A column of the key that ON leaves open would let versions of several keys stand for one. */
  private def open(said: VersionTable, keys: Seq[Expression]): Option[Expression] =
    said.keys.find { key =>
      !keys.exists {
        case Equality(a, b) => Seq(a, b).exists(isCompared(key, _))
        case _ => false
      }
    }

  /** A column that a hint names and the right side does not select. */
  private def gone(said: VersionTable, right: LogicalPlan): Option[Attribute] =
    AttributeSet(said.expressions).find(!right.outputSet.contains(_))

  private def noColumn(column: Attribute, right: LogicalPlan, time: SystemTime) = ClauseError(
    s"The versions of the right side are said by its column ${column.name}, which it does not select: its columns " +
      s"are ${right.output.map(_.name).mkString(", ")}",
    time.origin
  )

  private def noLongerSaid(lost: LostVersions, time: SystemTime) = ClauseError(
    s"The hint ${lost.part} was given to rows below ${lost.operation}, which does not pass it on, so it does not hold " +
      s"of the right side: give it to the right side itself, as ${lost.part}(r, ...) behind SELECT, or " +
      s"df.hint(\"${lost.part}\", ...) as the last step",
    time.origin
  )

  private def noCondition(deleted: Expression, time: SystemTime) = ClauseError(
    "VERSION_DELETED or plait.version-deleted must be a condition that is TRUE of a deletion, but " +
      s"${deleted.sql} is of type ${deleted.dataType.sql}: write a comparison, as VERSION_DELETED(r, (op = '-D'))",
    if (deleted.origin.startIndex.isDefined) deleted.origin else time.origin
  )

  private def isOf(side: LogicalPlan)(time: Expression): Boolean =
    time.references.exists(side.outputSet.contains)

  /** Of times that are not, Spark would say that it cannot compare them, and a text it would take for a time. */
  private def isLike(from: Expression, at: Expression): Boolean =
    (from.dataType, at.dataType) match {
      case (_: StringType, _: StringType) | (NullType, _) | (_, NullType) => true
      case (_: StringType, _) | (_, _: StringType) => false
      case (a, b) => !(isClock(a) && isNumber(b)) && !(isNumber(a) && isClock(b))
    }

  private def isClock(t: DataType): Boolean =
    t == TimestampType || t == TimestampNTZType || t == DateType

  private def isNumber(t: DataType): Boolean = t.isInstanceOf[NumericType]

  private def noTimeOfLeft(at: Expression, time: SystemTime) = ClauseError(
    s"The time after AS OF must be of the left side, whose rows look up a version each, but ${at.sql} is of the right side",
    time.origin
  )

  private def otherType(at: Expression, from: Expression, time: SystemTime) = {
    val cast =
      if (from.dataType.isInstanceOf[StringType])
        s"name another column by VERSIONED, or (CAST(${from.sql} AS ${at.dataType.sql}))"
      else if (isNumber(from.dataType) && isClock(at.dataType)) "name another column by VERSIONED"
      else
        s"cast it, as CAST(${at.sql} AS ${from.dataType.sql}), or name another column by VERSIONED"
    ClauseError(
      s"The time after AS OF must be of the type of ${from.sql}, from which on a version is valid, " +
        s"${from.dataType.sql}, but ${at.sql} is of type ${at.dataType.sql}: $cast",
      time.origin
    )
  }

  private def noTimeOfRow(constant: Expression, time: SystemTime) = ClauseError(
    s"The time of a join FOR SYSTEM_TIME AS OF is a column of its left side, and ${constant.sql} is none. For one " +
      s"time for all rows write ${constantFor(constant)}, which is Spark's time travel, or put it into a column of the " +
      "left side; the newest version is that AS OF PROCTIME()",
    time.origin
  )

  /** Without parentheses `current_date` is a name to Spark's time travel, and a name may be a column's. */
  private def constantFor(constant: Expression): String =
    if (constant.exists(_.isInstanceOf[VariableReference])) "the constant itself"
    else s"${constant.sql}, with parentheses"

  private def openKey(key: Expression, time: SystemTime) = ClauseError(
    s"ON must compare every column of the version key with the left side, but does not compare ${key.sql}$asItIs",
    time.origin
  )

  private def asItIs = ": compare it as it is, or name in VERSION_KEY what ON compares"

  private def noTime(right: LogicalPlan, time: SystemTime) = {
    val columns = right.output.map(_.name).mkString(", ")
    val dates = right.output.filter(_.dataType == DateType).map(_.name)
    val instead = if (dates.isEmpty) "" else s" (${dates.mkString(", ")}: of type DATE)"
    ClauseError(
      "FOR SYSTEM_TIME AS OF must know from when on a version is valid, and the right side has no column with " +
        s"a timestamp: its columns are $columns$instead. Name one with the hint VERSIONED(relation, column)",
      time.origin
    )
  }

  private def noKey(said: VersionTable, on: Seq[Expression], time: SystemTime) = {
    val wanted =
      if (said.keys.isEmpty) "a column of the right side"
      else said.keys.map(_.sql).mkString("one of the key's columns ", ", ", "")
    ClauseError(
      s"A join FOR SYSTEM_TIME AS OF needs an equality in ON between the left side and $wanted" +
        (if (said.keys.isEmpty) "" else asItIs) +
        (if (on.isEmpty) ". WHERE does not count: write JOIN ... ON" else ""),
      time.origin
    )
  }
}
