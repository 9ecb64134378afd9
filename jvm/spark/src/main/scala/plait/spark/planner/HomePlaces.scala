// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{LeftOuter, RightOuter}
import org.apache.spark.sql.types.IntegerType

import plait.Side
import plait.spark.translate.{EndsOfRanges, IntervalExpressions, PlaceOf, PlacesReached}

/** The places of a join in ranges whose preserved side, the home side, has stretches: a home row lies in one
  * place, the range of its low end, and a row of the other side goes to all that hold rows which reach it.
  *
  * {{{
  * r LEFT JOIN p ON p.x BETWEEN r.lo AND r.hi        cuts 10, 20
  *   r  [1, 13] [11, 12] [25, NULL]      ranges 0, 1, 0     range 0 stays until 13, range 1 until 12
  *   p  x = 12                           ranges 0 and 1
  *   p  x = 15                           none: range 0 ends at 13, range 1 at 12
  * }}}
  *
  * Until where a range stays is a subquery over *all* rows of the home side ([[EndsOfRanges]]), which Spark runs
  * once before the join and shares between both sides. So the home side is read twice, and must have the same
  * rows each time ([[RepeatableRows]]).
  *
  * What it costs: a row of the other side goes to the ranges that its own interval covers, to the one before, to
  * afar, and to an earlier one only if [[Enough]] rows of that end more than half as many ranges on: then there are
  * pairs to find, which take as long as the copies. Where a home row is done with its first match (semi,
  * anti, EXISTS) there are no pairs to find, and no row goes to an earlier one.
  *
  * What it does not promise: that the tasks are even. Rows that reach much farther than most lie in one place,
  * afar, and so does the whole side if all do; that task is then as the one of a join that is not cut.
  *
  * @param cuts
  *   NULL if they were taken from no rows
  */
final class HomePlaces(
    join: JoinToPlan,
    home: Side,
    intervals: JoinIntervals,
    cuts: ScalarSubquery,
    ranges: Int
) {
  import HomePlaces._

  def of(side: Side): Placed = {
    val child = join.children(side)
    if (side eq home) Placed(child, child.output, Coalesce(Seq(homePlace, AnyPlace)))
    else inEachPlace(child)
  }

  private val ends: ScalarSubquery = {
    val fixed = intervals.fixed
    val found = EndsOfRanges(fixed.low, fixed.high, cuts, ranges, enough).toAggregateExpression()
    RangeCuts.subquery(Aggregate(Nil, Seq(Alias(found, "ends")()), join.children(home)))
  }

  private def enough: Long = join.joinType match {
    case LeftOuter | RightOuter => Enough
    case _ => Long.MaxValue
  }

  private def homePlace: Expression = {
    val IntervalExpressions(low, high) = intervals.fixed
    afterCuts(PlaceOf(low, high, ends, ranges), AnyPlace)
  }

  private def inEachPlace(child: LogicalPlan): Placed = {
    val IntervalExpressions(low, high) = intervals.seeking
    val places = afterCuts(PlacesReached(low, high, ends, ranges), CreateArray(Seq(AnyPlace)))
    val place = AttributeReference("place", IntegerType, nullable = false)()
    val each = Generate(
      Explode(places),
      unrequiredChildIndex = Nil,
      outer = false,
      qualifier = None,
      generatorOutput = Seq(place),
      child
    )
    Placed(each, child.output, place)
  }

  /** Spark runs subqueries in a few threads, in the sequence in which it meets them, and a thread waits for those
    * within. So the cuts are met first, as the optimizer has left them within: they run before what waits for them.
    */
  private def afterCuts(places: Expression, withoutCuts: Expression): Expression = {
    val within = ends.plan
      .flatMap(_.expressions)
      .flatMap(_.collectFirst {
        case subquery: ScalarSubquery if subquery.exprId == cuts.exprId => subquery
      })
    within.headOption.fold(places)(first => If(IsNull(first), withoutCuts, places))
  }
}

object HomePlaces {

  /** A copy of a row takes as long as some tens of pairs. */
  private val Enough = 32L

  /** Where rows lie that match nothing, and all rows where there are no cuts. */
  private val AnyPlace = Literal(0)

  /** @param place
    *   of each of the rows
    * @param columns
    *   the side's own
    */
  final case class Placed(rows: LogicalPlan, columns: Seq[Attribute], place: Expression)
}
