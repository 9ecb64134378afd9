// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.LongType

import plait.join.Rankless
import plait.order.ReachEnd.WholeFormula
import plait.spark.plan.StreamJoin
import plait.spark.stream.StreamSpec
import plait.spark.translate.{OrderValue, ReachEndValue}
import plait.{BySide, Side}

/** Gives a join of streams without an equality a key: the order line is cut into ranges of one width, and
  * the number of the range is what rows are dealt by.
  *
  * {{{
  * l JOIN r ON r.s BETWEEN l.s AND l.s + 5           a right row reaches [s - 5, s], of width 5: ranges of 8
  *   l  s = 14             range 1                   the *home* side: a row has one range
  *   r  s = 17             ranges 1 and 2            its partners go to every range that they reach
  * }}}
  *
  * Ranges are of ranks, so of any type whose reach is as wide for each row in ranks: what is no constant wide is
  * not dealt, and all rows are in one task. What comes late and what leaves is as it was: the key only says
  * which task a row goes to.
  *
  * A preserved side is the home side. FULL is not dealt, as both are.
  */
object StreamRanges {

  def of(join: StreamJoin): LogicalPlan = {
    val toPlan = JoinToPlan.of(join.join)
    if (toPlan.hasKeys) join
    else {
      val spec = StreamPruning.of(toPlan, join.read).spec
      homes(join.joinType)
        .flatMap(home => width(spec, home).map(home -> _))
        .headOption
        .fold[LogicalPlan](join) { case (home, width) => dealt(join, spec, home, width) }
    }
  }

  private def homes(joinType: JoinType): Seq[Side] = joinType match {
    case _: InnerLike => Side.both
    case LeftOuter | LeftSemi | LeftAnti => Seq(Side.Left)
    case RightOuter => Seq(Side.Right)
    case _ => Nil
  }

  /** How far apart the ends of the reach are in ranks of the home side, if they are as far for all rows. */
  private def width(spec: StreamSpec, home: Side): Option[Long] = {
    val reach = spec.ranks(home.other).tail
    val (low, high) = (reach.head, reach.last)
    val isRanked = Side.both.forall(spec.rankless(_) eq Rankless.Dead)
    if (!isRanked || low.references.isEmpty || !areOfOneSum(low, high)) None
    else widthOf(low, high).filter(width => width >= 0 && width <= Widest)
  }

  /** Are both ends the same sum of values, but for a constant? Then they are as far apart for all rows. */
  private def areOfOneSum(low: Expression, high: Expression): Boolean = {
    val sums = Seq(low, high).map(sumsOf)
    sums.forall(_.isDefined) && sums.flatten.flatten.distinct.size == 1
  }

  private def sumsOf(end: Expression): Option[Seq[Set[(Expression, Long)]]] = end match {
    case BitwiseNot(complement) => sumsOf(complement)
    case ReachEndValue(reach, values) =>
      // A quotient is rounded, and one row has its ends nearer than another.
      val sums = reach.formulas.collect {
        case whole: WholeFormula if whole.divisor == 1 && whole.terms.forall(_._2.isValidInt) =>
          whole.terms.map { case (i, k) => (values(i).canonicalized, k) }.toSet
      }
      Option.when(sums.nonEmpty && sums.size == reach.formulas.size)(sums)
    case _ => None
  }

  private val Widest = 1L << 60

  /** As one row has it, whose values have small ranks; where sums are cut off at the ends of their type, they are nearer. */
  private def widthOf(low: Expression, high: Expression): Option[Long] = {
    val columns = (low.references ++ high.references).toSeq
    def valueAt(end: Expression) = Try {
      val bound = end.transform { case column: Attribute =>
        val i = columns.indexWhere(_.exprId == column.exprId)
        OrderValue.value(i.toLong * i, column.dataType).get
      }
      bound.eval().asInstanceOf[Long]
    }.toOption
    for (from <- valueAt(low); to <- valueAt(high)) yield to - from
  }

  private def dealt(join: StreamJoin, spec: StreamSpec, home: Side, width: Long): LogicalPlan = {
    // The least power of two that is not less: a seeking row meets two ranges at most.
    val bits = 64 - java.lang.Long.numberOfLeadingZeros(math.max(width - 1, 0L))
    val children = BySide(join.left, join.right)
    val sides = BySide.make { side =>
      if (side eq home) inItsRange(children(side), spec.ranks(side).head, bits)
      else inEachRange(children(side), spec.ranks(side).tail, bits)
    }
    val split = join.copy(
      left = sides.left._1,
      right = sides.right._1,
      ranges = Some(StreamJoin.Ranges(BySide(sides.left._2, sides.right._2), home, 1L << bits))
    )
    Project(join.output, split)
  }

  private def inItsRange(child: LogicalPlan, rank: Expression, bits: Int) = {
    val number = Coalesce(Seq(ShiftRight(rank, Literal(bits)), Literal(0L)))
    val range = Alias(number, "range")()
    (Project(child.output :+ range, child), range.toAttribute)
  }

  private def inEachRange(child: LogicalPlan, reach: Seq[Expression], bits: Int) = {
    val from = ShiftRight(Least(reach), Literal(bits))
    val to = ShiftRight(Greatest(reach), Literal(bits))
    val number = AttributeReference("range", LongType, nullable = false)()
    // Whole numbers have no zone, but Spark asks for one.
    val all = Sequence(from, to, None, Some("UTC"))
    val each = Generate(Explode(all), Nil, outer = false, None, Seq(number), child)
    (each, number)
  }
}
