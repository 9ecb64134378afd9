// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{
  Add,
  Alias,
  And,
  Attribute,
  AttributeReference,
  Coalesce,
  EqualTo,
  Explode,
  Expression,
  GetArrayItem,
  Greatest,
  If,
  Least,
  LessThan,
  Literal,
  Multiply,
  Sequence,
  Subtract
}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{EXISTS_SUBQUERY, JOIN, LIST_SUBQUERY}
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.plait.PrunedPartitions
import org.apache.spark.sql.types.{ArrayType, IntegerType}
import org.apache.spark.unsafe.hash.Murmur3_x86_32

import plait.order.WhyNot
import plait.spark.plan.PlaitJoinHint
import plait.spark.planner.JoinIntervals.{Computed, Mixed, Point, Solved, Stretch}
import plait.spark.translate.{IntervalExpressions, PlaceExpression, RangeOf}
import plait.spark.{JoinStrategyChoice, PlaitConf}
import plait.{BySide, Side}

/** Gives a join without an equality one: the order line is cut into ranges, and the number of the
  * range becomes the key.
  *
  * {{{
  * p JOIN r ON p.x BETWEEN r.lo AND r.hi           cuts of p.x: 10, 20
  *   p  x = 15             range 1                   the *home* side: a row has one range
  *   r  [8, 12]            ranges 0 and 1            its partners go to every range they reach
  *   joined by range = range AND p.x BETWEEN r.lo AND r.hi
  *
  * r LEFT JOIN p ON p.x BETWEEN r.lo AND r.hi      r is the home side, and its rows are stretches ([[HomePlaces]])
  *   r  [8, 12]            range 0                   that of its low end
  *   p  x = 11             ranges 0 and 1            as range 0 holds rows that end at 11 or later
  *
  * a JOIN b ON a.lo <= b.hi AND b.lo <= a.hi       both go to every range they meet, and there to one
  *                                                 of two keys, or to both:
  *   range 5, key 10       a from its first range on, b
  *   range 5, key 11       a that is in ranges before, b from its first range on
  *                                                 so a pair meets once, in the first range in which both are
  * }}}
  *
  * The cuts ([[RangeCuts]]) are a subquery over the home side, which Spark runs once before the join and
  * shares between both sides. That they are the same on both sides is what the rows of the result
  * hang on; where they lie, only how even the tasks are.
  *
  * Conventions:
  *   1. A preserved side is the home side, with one range a row; a row whose order is NULL lies in
  *      range 0. FULL is not split, nor is what would compare the ends of a home row with types whose
  *      ranks do not agree.
  *   2. A seeking row of which an end of the interval is NULL matches nothing, and goes to one range or nowhere.
  *
  * It is a rule of the optimizer and not a strategy, so that adaptive execution knows the split sides
  * for nodes of the plan. Spark makes joins of subqueries (`EXISTS`, `NOT EXISTS`) only after it; of a
  * filter whose subqueries it can split, it makes them itself ([[SubqueryJoins]]).
  */
object RangeSplit extends Rule[LogicalPlan] {

  /** All pairs of so many are soon compared. */
  private val FewPairs = BigInt(10).pow(8)

  /** So many pairs are compared while what a row reaches is solved, as often as it is: measured with a power of a
    * difference.
    */
  private val WhileSolved = 12000

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val settings = PlaitConf(conf)
    if (!settings.enabled) plan
    else
      plan.transformUpWithPruning(
        _.containsAnyPattern(JOIN, EXISTS_SUBQUERY, LIST_SUBQUERY)
      ) {
        case join: Join => orAsItWas(join, settings)(attempt(_, settings))
        case filter: Filter if SubqueryJoins.isAskedBy(filter) =>
          orAsItWas(filter, settings)(attemptSubqueries(_, settings))
      }
  }

  private def orAsItWas[A <: LogicalPlan](plan: A, settings: PlaitConf)(
      attempt: A => Option[LogicalPlan]
  ): LogicalPlan =
    try attempt(plan).getOrElse(plan)
    catch {
      case PlanningFailure(e) if !settings.failsOnPlanningError =>
        logWarning("Plait failed to split a join and leaves it to Spark", e)
        plan
    }

  /** Why a join without an equality is not worth anything but comparing all pairs. */
  def whyAllPairs(join: JoinToPlan, choice: JoinStrategyChoice): Option[WhyNot] =
    fewPairs(join, choice).orElse {
      fewPairsToSolve(join, choice).filter { _ =>
        join.residual.map(new JoinCondition(_, join.children)).exists(isSolved(join, _))
      }
    }

  private def isSolved(join: JoinToPlan, condition: JoinCondition): Boolean = {
    val found = choice(join, condition).map(_._2)
    def ofBoth = Side.both.flatMap(JoinIntervals.of(condition, _).toOption)
    found.fold(ofBoth)(Seq(_)).map(_.cost).distinct == Seq(Solved)
  }

  private def fewPairs(join: JoinToPlan, choice: JoinStrategyChoice): Option[WhyNot] =
    pairs(join, choice).collect {
      case (left, right) if left * right < FewPairs =>
        WhyNot.FewPairs((left * right).toLong)
    }

  /** If the intervals are solved for each row. */
  private def fewPairsToSolve(join: JoinToPlan, choice: JoinStrategyChoice): Option[WhyNot] =
    pairs(join, choice).collect {
      case (left, right) if left * right < (left + right) * WhileSolved =>
        WhyNot.FewPairsToSolve((left * right).toLong)
    }

  /** The rows of both sides, if they are known and count. */
  private def pairs(join: JoinToPlan, choice: JoinStrategyChoice): Option[(BigInt, BigInt)] =
    if (choice == JoinStrategyChoice.Always) None
    else for (left <- join.rows(Side.Left); right <- join.rows(Side.Right)) yield (left, right)

  /** Why a join was not cut. */
  def whyNot(join: JoinToPlan): WhyNot =
    if (homes(join.joinType).isEmpty) WhyNot.BothPreserved()
    else
      join.residual
        .flatMap(condition => usable(join, new JoinCondition(condition, join.children)).headOption)
        .flatMap { case (side, intervals) =>
          whyNotShared.orElse(
            Option
              .when(isPreservedStretch(join, intervals))(asWritten(join.children(side)))
              .flatMap(whyNotReadTwice(side, _))
          )
        }
        .getOrElse(WhyNot.NoRanges())

  /** Both sides must be cut in the same places, and two subqueries may sample other rows. */
  def whyNotShared: Option[WhyNot] =
    Option.unless(conf.subqueryReuseEnabled)(
      WhyNot.CutsNotShared(SQLConf.SUBQUERY_REUSE_ENABLED.key)
    )

  /** Adaptive execution hides what it has run. */
  private def asWritten(plan: LogicalPlan): LogicalPlan = plan.transform {
    case LogicalQueryStage(hidden, _) => hidden
  }

  private def attempt(plan: Join, settings: PlaitConf): Option[LogicalPlan] =
    if (!isOurs(JoinToPlan.of(plan), settings)) None
    else split(JoinToPlan.of(PrunedPartitions.of(plan)), settings)

  private def split(join: JoinToPlan, settings: PlaitConf): Option[LogicalPlan] =
    for {
      _ <- Option.when(JoinMode.smallSide(join, conf).isEmpty)(())
      (side, intervals) <- home(join, settings)
      sample <- sampleOf(join.children(side), intervals.fixed.low)
      if !isPreservedStretch(join, intervals) || whyNotReadTwice(side, join.children(side)).isEmpty
    } yield {
      val split = joined(join, side, intervals, sample)
      require(split.resolved, s"not resolved: $split")
      split
    }

  private def isPreservedStretch(join: JoinToPlan, intervals: JoinIntervals): Boolean =
    intervals.shape == Stretch && !join.joinType.isInstanceOf[InnerLike]

  /** Of a preserved side of stretches it must be known until where the rows of each range reach. */
  private def whyNotReadTwice(home: Side, rows: LogicalPlan): Option[WhyNot] =
    if (isSplit(rows)) Some(WhyNot.RangesBelow(home))
    else RepeatableRows.whyNot(rows).map(WhyNot.RowsMayDiffer(home, _))

  /** The filter as joins, if one of them at least is split; else Spark makes them in its own time. */
  private def attemptSubqueries(filter: Filter, settings: PlaitConf): Option[LogicalPlan] = {
    var isSplit = false
    val joins = SubqueryJoins.of(filter) { join =>
      val split = attempt(join, settings)
      isSplit ||= split.isDefined
      split.getOrElse(join)
    }
    if (isSplit) Some(joins) else None
  }

  /** Without a key, neither a stream, nor asked of another; the cuts are surely shared, and Spark has
    * written all that it still writes into the sides of a subquery, as it does not look into cuts.
    */
  private def isOurs(join: JoinToPlan, settings: PlaitConf): Boolean =
    join.choice(
      settings
    ) != JoinStrategyChoice.Never && !join.hasKeys && !join.join.isStreaming && join.residual
      .exists(_.deterministic) &&
      join.strategies.forall(_ == PlaitJoinHint.SYMMETRIC_HASH) &&
      whyNotShared.isEmpty &&
      !join.join.exists(_.isInstanceOf[DomainJoin])

  /** The home side of a join that is worth a split. */
  private def home(join: JoinToPlan, settings: PlaitConf): Option[(Side, JoinIntervals)] =
    join.residual
      .filter(_ => fewPairs(join, join.choice(settings)).isEmpty)
      .flatMap(condition => choice(join, new JoinCondition(condition, join.children)))
      .filter { case (_, intervals) =>
        intervals.cost == Computed || fewPairsToSolve(join, join.choice(settings)).isEmpty
      }

  /** One whose rows have one range each, if there is one: of two the one whose intervals are computed and not
    * solved, and else the one with more rows, as those of the other may go to several. What may have any
    * number of rows has more.
    */
  private def choice(
      join: JoinToPlan,
      condition: JoinCondition
  ): Option[(Side, JoinIntervals)] = {
    val found = usable(join, condition)
    val points = found.filter { case (_, intervals) => intervals.shape == Point }
    // maxByOption keeps the first of equals.
    (if (points.nonEmpty) points else found).maxByOption { case (side, intervals) =>
      val rows = join.rows(side)
      (intervals.cost == Computed, rows.isEmpty, rows)
    }
  }

  private def usable(join: JoinToPlan, condition: JoinCondition): Seq[(Side, JoinIntervals)] =
    for {
      side <- homes(join.joinType)
      intervals <- JoinIntervals.of(condition, side).toOption
      if intervals.shape != Mixed
    } yield side -> intervals

  /** What the cuts are taken from: what is computed first is computed once more for them, though not if that
    * takes cuts of its own.
    */
  private def sampleOf(home: LogicalPlan, low: Expression): Option[SampledRows] =
    SampledRows.of(home, low).orElse(Option.unless(isSplit(home))(SampledRows(home, low)))

  private def isSplit(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(_.exists {
      case _: RangeOf | _: PlaceExpression => true
      case _ => false
    }))

  private def homes(joinType: JoinType): Seq[Side] = joinType match {
    case _: InnerLike => Side.both
    case LeftOuter | LeftSemi | LeftAnti | ExistenceJoin(_) => Seq(Side.Left)
    case RightOuter => Seq(Side.Right)
    case _ => Nil
  }

  private def joined(
      join: JoinToPlan,
      home: Side,
      intervals: JoinIntervals,
      sample: SampledRows
  ): LogicalPlan = {
    val cuts = RangeCuts.of(sample.rows, sample.value, count, JoinToPlan.rows(sample.rows))
    val isPoint = intervals.shape == Point
    lazy val places = new HomePlaces(join, home, intervals, cuts, count)
    val sides = BySide.make { side =>
      val child = join.children(side)
      if (isPreservedStretch(join, intervals)) ranged(places.of(side))
      else if (isPoint && (side eq home)) inOneRange(child, intervals.fixed, cuts)
      else if (isPoint) inEachRange(child, intervals.seeking, cuts)(Meeting.All)
      else if (side eq home) inEachRange(child, intervals.fixed, cuts)(Meeting.Beginning)
      else inEachRange(child, intervals.seeking, cuts)(Meeting.Both)
    }
    val condition = And(EqualTo(sides.left.range, sides.right.range), join.residual.get)
    val split = join.join.copy(
      left = sides.left.plan,
      right = sides.right.plan,
      condition = Some(condition)
    )
    Project(join.join.output, split)
  }

  /** A side with the key of a range in each row. */
  final private case class Ranged(plan: LogicalPlan, range: Attribute)

  /** To which keys of its ranges, two each, a row goes that begins in the range `first`. */
  sealed private trait Meeting {

    /** The numbers from which on there is one for each copy of the row. */
    def from(first: Expression): Expression = first
    def index(number: Expression, first: Expression): Expression
  }
  private object Meeting {
    private def twice(number: Expression) = Multiply(number, Literal(2))
    private def next(number: Expression) = Add(number, Literal(1))

    /** The first key of each range. */
    case object All extends Meeting {
      def index(number: Expression, first: Expression): Expression = twice(number)
    }

    /** The first key of the range where it begins, the second of the others. */
    case object Beginning extends Meeting {
      def index(number: Expression, first: Expression): Expression =
        If(EqualTo(number, first), twice(number), next(twice(number)))
    }

    /** The first key of each range, and the second of that where it begins. */
    case object Both extends Meeting {
      override def from(first: Expression): Expression = Subtract(first, Literal(1))
      def index(number: Expression, first: Expression): Expression =
        If(LessThan(number, first), next(twice(first)), twice(number))
    }
  }

  private def inOneRange(
      child: LogicalPlan,
      interval: IntervalExpressions,
      cuts: Expression
  ): Ranged = {
    val number = Coalesce(Seq(RangeOf(interval.low, cuts), Literal(0)))
    ranged(child, child.output, Meeting.All.index(number, number))
  }

  private def inEachRange(
      child: LogicalPlan,
      interval: IntervalExpressions,
      cuts: Expression
  )(meeting: Meeting): Ranged = {
    val first = Alias(RangeOf(Least(interval.ends), cuts), "first")()
    val to = Alias(RangeOf(Greatest(interval.ends), cuts), "last")()
    val number = AttributeReference("number", IntegerType, nullable = false)()
    val ends = Project(child.output ++ Seq(first, to), child)
    // Of numbers it asks for no zone, and yet wants one.
    val all =
      Sequence(
        meeting.from(first.toAttribute),
        to.toAttribute,
        None,
        Some(conf.sessionLocalTimeZone)
      )
    val each = Generate(
      Explode(all),
      unrequiredChildIndex = Seq(ends.output.size - 1),
      outer = false,
      qualifier = None,
      generatorOutput = Seq(number),
      ends
    )
    ranged(each, child.output, meeting.index(number, first.toAttribute))
  }

  private def ranged(placed: HomePlaces.Placed): Ranged =
    ranged(placed.rows, placed.columns, placed.place)

  private def ranged(rows: LogicalPlan, columns: Seq[Attribute], index: Expression): Ranged = {
    val range = Alias(keyOf(index), "range")()
    Ranged(Project(columns :+ range, rows), range.toAttribute)
  }

  /** As many ranges as the join has tasks. */
  private def count: Int = math.max(conf.numShufflePartitions, 2)

  /** The two keys of each range: Spark's shuffle sends those of one range to one task. */
  private def keyOf(index: Expression): Expression =
    GetArrayItem(Literal.create(RangeSplit.keys(count), ArrayType(IntegerType, false)), index)

  /** For each of n tasks two numbers that Spark's shuffle deals to it, side by side: by hash of the number
    * alone, some tasks would get several ranges, and some none.
    */
  private[planner] def keys(n: Int): Array[Int] = {
    val found = new Array[Int](2 * n)
    val count = new Array[Int](n)
    var missing = 2 * n
    var number = 0
    // Invariant: of the numbers before `number`, the first two of each task stand in `found`.
    while (missing > 0) {
      val task = Math.floorMod(Murmur3_x86_32.hashInt(number, ShuffleSeed), n)
      if (count(task) < 2) {
        found(2 * task + count(task)) = number
        count(task) += 1
        missing -= 1
      }
      number += 1
    }
    found
  }

  private val ShuffleSeed = 42
}
