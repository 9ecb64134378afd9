// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.types.{DataType, LongType}

import plait.BySide
import plait.spark.translate.{BestMatch, MatchDirection, OrderValue}

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

  private val isDownwards = direction == AtOrAfter || direction == After

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

  def pace(best: BestMatch, outputs: BySide[Seq[Attribute]]): MatchPace = {
    val seesEqual = direction != Before && direction != After
    if (isByRank) if (seesEqual) MatchPace.UpToRank else MatchPace.BelowRank
    else {
      val ordering =
        GenerateOrdering.generate(Seq(order(BoundReference(0, dataType, nullable = true))))
      new MatchPace.ByValue(
        UnsafeProjection.create(Seq(best.left), outputs.left),
        UnsafeProjection.create(Seq(best.right), outputs.right),
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

  /** @param most the greatest result of comparing right with left for which the right row is seen */
  final class ByValue(
      leftValue: UnsafeProjection,
      rightValue: UnsafeProjection,
      ordering: Ordering[org.apache.spark.sql.catalyst.InternalRow],
      most: Int
  ) extends MatchPace {
    private var ofLeft: UnsafeRow = _
    private var ofRight: UnsafeRow = _
    override def leftRead(left: SideReader): Unit = ofLeft = leftValue(left.row)
    override def rightRead(right: SideReader): Unit = ofRight = rightValue(right.row)
    override def isSeen(left: SideReader, right: SideReader): Boolean =
      Integer.signum(ordering.compare(ofRight, ofLeft)) <= most
  }
}
