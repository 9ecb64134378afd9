// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.types.{DataType, LongType}

import plait.spark.translate.{BestMatch, MatchDirection, OrderValue}
import plait.{BySide, Side}

/** How match values are scanned: upwards, or downwards where the best row is the next one; by their
  * [[OrderValue]] where that says all of a value, else by the values themselves.
  *
  * {{{
  * l.ts >= r.ts     both upwards, by microseconds
  * l.ts < r.ts      both downwards, by the bitwise negation of the microseconds
  * l.s >= r.s       texts: both upwards, compared by Spark
  * }}}
  */
final case class MatchScan(direction: MatchDirection, dataType: DataType) {
  import MatchDirection._

  /** Numbers say all of the values. */
  val isByRank: Boolean = OrderValue.isWhole(dataType)

  /** Rows come from the last to the first. */
  val isDownwards: Boolean = direction == AtOrAfter || direction == After

  def order(value: Expression): SortOrder =
    SortOrder(value, if (isDownwards) Descending else Ascending)

  /** Rank and both ends of a reach, as a [[SideReader]] wants them. */
  def ranks(value: Expression): Seq[Expression] = {
    val rank =
      if (!isByRank) MatchScan.oneRank(value)
      else if (isDownwards) BitwiseNot(OrderValue(value))
      else OrderValue(value)
    Seq(rank, rank, rank)
  }

  /** A number that never falls along the scan, if there is one; of longer types for a prefix of a value. */
  def rangeRank(value: Expression): Option[Expression] =
    if (!OrderValue.exists(dataType)) None
    else Some(if (isDownwards) BitwiseNot(OrderValue(value)) else OrderValue(value))

  def pace(best: BestMatch, outputs: BySide[Seq[Attribute]]): MatchPace = {
    val seesEqual = direction != Before && direction != After
    if (isByRank) if (seesEqual) MatchPace.UpToRank else MatchPace.BelowRank
    else {
      val ordering =
        GenerateOrdering.generate(Seq(order(BoundReference(0, dataType, nullable = true))))
      new MatchPace.ByValue(
        UnsafeProjection.create(Seq(best.left), outputs.left),
        BySide.make(_ => UnsafeProjection.create(Seq(best.right), outputs.right)),
        ordering,
        if (seesEqual) 0 else -1
      )
    }
  }
}

object MatchScan {

  /** The ranks of values that need no order: all rows with a value are of one rank. */
  def unordered(value: Expression): Seq[Expression] = Seq.fill(3)(oneRank(value))

  private def oneRank(value: Expression): Expression =
    If(IsNull(value), Literal(null, LongType), Literal(0L))
}

/** Whether a right row is to be offered before a left row picks. */
sealed abstract class MatchPace {
  def leftRead(left: SideReader): Unit = ()
  def rightRead(right: SideReader): Unit = ()

  /** Of the right row read last: never falls, and is the same where match values are. */
  def rankOf(right: SideReader): Long = right.rank

  /** Of the rows read last. */
  def isSeen(left: SideReader, right: SideReader): Boolean
}

object MatchPace {
  object UpToRank extends MatchPace {
    override def isSeen(left: SideReader, right: SideReader): Boolean = right.rank <= left.rank
  }

  object BelowRank extends MatchPace {
    override def isSeen(left: SideReader, right: SideReader): Boolean = right.rank < left.rank
  }

  /** Values have no rank that tells them apart: those of the right side are numbered as they come.
    *
    * @param rightValue
    *   twice the same, in turn, so that a value lies beside the one before it
    * @param most
    *   the greatest result of comparing right with left for which the right row is seen
    */
  final class ByValue(
      leftValue: UnsafeProjection,
      rightValue: BySide[UnsafeProjection],
      ordering: Ordering[org.apache.spark.sql.catalyst.InternalRow],
      most: Int
  ) extends MatchPace {
    private var ofLeft: UnsafeRow = _
    private var ofRight: UnsafeRow = _
    private var turn: Side = Side.Left
    private var number = 0L
    override def leftRead(left: SideReader): Unit = ofLeft = leftValue(left.row)
    override def rightRead(right: SideReader): Unit = {
      val before = ofRight
      turn = turn.other
      ofRight = rightValue(turn)(right.row)
      if (before != null && ordering.compare(before, ofRight) != 0) number += 1
    }
    override def rankOf(right: SideReader): Long = number
    override def isSeen(left: SideReader, right: SideReader): Boolean =
      Integer.signum(ordering.compare(ofRight, ofLeft)) <= most
  }
}
