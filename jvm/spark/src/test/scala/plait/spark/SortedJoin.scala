// SPDX-License-Identifier: Apache-2.0
package plait.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Add,
  And,
  AttributeReference,
  AttributeSet,
  Expression,
  GreaterThan,
  LessThan,
  Literal,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.types.LongType

import plait.join.{JoinCore, KeyGroup, MemoryRowBuffer, RowStore}
import plait.order.OrderChoice
import plait.spark.exec.{BufferTrace, SymmetricHashJoinPairs}
import plait.spark.side._
import plait.spark.translate.{SideExpressions, TermTranslation}
import plait.{BySide, Side}

/** The loop of the join node over rows (k, s) that come by s, without a plan or a task around it:
  *
  * {{{
  * l.k = r.k AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10        l.s - r.s is 5 or 6
  * }}}
  *
  * @param store
  *   a new one for each side
  */
final class SortedJoin(
    inputs: BySide[Iterator[InternalRow]],
    joinType: JoinType,
    store: => RowStore[UnsafeRow]
) {
  private def column(name: String) = AttributeReference(name, LongType)()
  private val columns = BySide(Seq(column("k"), column("s")), Seq(column("k"), column("s")))

  private val condition: Seq[Expression] = {
    val (l, r) = (columns.left(1), columns.right(1))
    Seq(
      GreaterThan(Add(l, Literal(1L)), Add(r, Literal(5L))),
      LessThan(Add(l, Literal(3L)), Add(r, Literal(10L)))
    )
  }

  private val keys = new WholeKeyTable
  private val roles = JoinOutput.roles(joinType).get
  val core: JoinCore[SideReader, KeyGroup, UnsafeRow] = new JoinCore(
    keys,
    BySide.make(side => new MemoryRowBuffer[UnsafeRow](side, keys, store)),
    roles
  )

  val pairs: SymmetricHashJoinPairs = {
    val translation = new TermTranslation(columns.map(AttributeSet(_)))
    val choice =
      OrderChoice.best(condition.flatMap(translation.compare(_)), BySide(Nil, Nil)).toOption.get
    val readers = BySide.make { (side: Side) =>
      val expressions = SideExpressions.of(side, choice, translation)
      SideReader.create(Seq(columns(side).head), expressions.ranks, columns(side))
    }
    new SymmetricHashJoinPairs(
      inputs.map(RowsByRank.asTheyCome(_)),
      readers,
      core,
      roles,
      PairTest.of(condition.reduce(And(_, _)), columns, 0),
      BufferTrace.Off,
      new ReadingThread,
      () => ()
    )
  }

  val rows: Iterator[InternalRow] =
    new JoinedPairs.Rows(pairs, () => JoinOutput.of(joinType, columns))
}
