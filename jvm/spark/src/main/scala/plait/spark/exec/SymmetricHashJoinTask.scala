// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import java.util.concurrent.TimeUnit

import org.apache.spark.TaskContext
import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.{TaskEnd, TaskMemory}
import org.apache.spark.util.CollectionAccumulator

import plait.join._
import plait.spark.RadixJoinChoice
import plait.spark.side._
import plait.spark.translate.SolvedReachValue
import plait.{BySide, Side}

/** What one task of a join does: builds readers, buffers and core, and counts when it ends.
  *
  * {{{
  * both sides would be sorted here, all rows in memory, few of them to a key       by bucket: RadixJoin
  * the same, and both sides come by key, with more of them to a key                by bucket, as they lie
  * else                                                                            by rank: JoinCore
  * }}}
  *
  * How many rows a key has is guessed from a sample, once both sides are read. Where a reach is solved for each row, that
  * takes longer than to compare the row with some tens of others: by bucket it is not solved, and a row is compared with
  * all of its key.
  *
  * @param radix
  *   whether joins are made bucket by bucket
  */
final class SymmetricHashJoinTask(
    joinType: JoinType,
    sides: BySide[SidePlan],
    rankless: BySide[Rankless],
    condition: Option[Expression],
    radix: RadixJoinChoice,
    metrics: Map[String, SQLMetric],
    trace: Option[CollectionAccumulator[TracePoint]]
) extends Serializable {

  def join(inputs: BySide[Iterator[InternalRow]]): JoinedPairs = {
    val run = new SymmetricHashJoinTask.Run(TaskContext.get())
    val sorts = sides.map { side =>
      Option.when(side.isSortedHere)(new RankSort(side.ranks.head, side.output, metrics))
    }
    run.ending.is(() => release(run, sorts))
    def byRank = joinByRank(
      BySide.make { side =>
        sorts(side).fold(RowsByRank.asTheyCome(inputs(side)))(_.sorted(inputs(side)))
      },
      sorts,
      run
    )
    if (!mayBeRadix) byRank
    else
      new LaterPairs(() => {
        sorts.left.get.fill(inputs.left)
        // Then the right side may not have to be read.
        if (sorts.left.get.isEmpty && (roles.right.leaves eq Leaving.Silently)) byRank
        else {
          sorts.right.get.fill(inputs.right)
          byBucket(sorts.map(_.get), run).getOrElse(byRank)
        }
      })
  }

  private def mayBeRadix: Boolean =
    radix != RadixJoinChoice.Never && trace.isEmpty && sides.left.keys.nonEmpty &&
      Side.both.forall(sides(_).isSortedHere)

  private def release(run: SymmetricHashJoinTask.Run, sorts: BySide[Option[RankSort]]): Unit = {
    for (side <- Side.both) sorts(side).foreach(_.release())
    run.index.clear()
  }

  private def joinByRank(
      inputs: BySide[RowsByRank],
      sorts: BySide[Option[RankSort]],
      run: SymmetricHashJoinTask.Run
  ): JoinedPairs = {
    val keys = HashKeyTable.of(KeyForm.of(sides.left.keys), run.index)
    val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
    val stores = sides.map(s => new PagedRowStore(run.memory, s.output.size, target))
    val buffers =
      BySide.make(side => new MemoryRowBuffer[UnsafeRow](side, keys, stores(side), run.index))
    val core = new JoinCore[SideReader, KeyGroup, UnsafeRow](keys, buffers, roles, rankless)
    val pairs = new SymmetricHashJoinPairs(
      inputs,
      sides.map(s => SideReader.create(s.keys, s.ranks, s.output)),
      core,
      roles,
      accepts(run.context),
      trace.fold[BufferTrace](BufferTrace.Off)(new BufferTrace.On(run.context.partitionId(), _)),
      () => run.ending.run()
    )
    run.ending.is { () =>
      count(core, pairs)
      for (side <- Side.both) stores(side).clear()
      release(run, sorts)
    }
    pairs
  }

  /** None where another way is better, or there is no room. */
  private def byBucket(
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  ): Option[JoinedPairs] =
    for {
      left <- sorts.left.inMemory
      right <- sorts.right.inMemory
      dealt = BySide(left, right).map(_.count.toLong)
      rows = dealt.left + dealt.right
      if radix == RadixJoinChoice.Always || isSolved || rows >= SymmetricHashJoinTask.EnoughRows
      sources = toDeal(BySide(left, right))
      guess = RowsToDeal.guess(sources)
      if hasFewPairs(guess, rows) || mayHaveFewWhereTheyLie(guess, rows)
      if hasRoom(sorts, rows * RowsToDeal.BytesPerRow, run)
      if readAll(sources, sorts, run) {
        hasFewPairs(guess, rows) || RowsToDeal.cameByKey(sources)
      }
    } yield joinByBucket(sources, sorts, run)

  private def isSolved: Boolean =
    Side.both.exists(sides(_).ranks.exists(_.exists(_.isInstanceOf[SolvedReachValue])))

  private def hasFewPairs(guess: RowsToDeal.Guess, rows: Long): Boolean =
    radix == RadixJoinChoice.Always || guess.pairs <= rows *
      (if (isSolved) SymmetricHashJoinTask.FewToSolve else SymmetricHashJoinTask.FewPairs)

  private def mayHaveFewWhereTheyLie(guess: RowsToDeal.Guess, rows: Long): Boolean =
    guess.seemToComeByKey && guess.pairs <= SymmetricHashJoinTask.FewWhereTheyLie * rows

  /** Rank and reach of the rows that probe. */
  private def probing(plan: SidePlan): Seq[Expression] =
    if (isSolved) Seq(plan.ranks.head, Literal(Long.MinValue), Literal(Long.MaxValue))
    else plan.ranks

  /** Room is not made by writing the rows that it is for. */
  private def hasRoom(
      sorts: BySide[RankSort],
      bytes: Long,
      run: SymmetricHashJoinTask.Run
  ): Boolean = {
    Side.both.foreach(sorts(_).keep())
    val isThere = run.index.hasRoomFor(bytes)
    if (!isThere) Side.both.foreach(sorts(_).letGo())
    isThere
  }

  private def keyForm(side: Side) = KeyForm.inMemory(sides(side).keys)
  private def roles = JoinOutput.roles(joinType).get

  private def toDeal(rows: BySide[RankedRows]): BySide[RowsToDeal] = {
    val table = HashKeyTable.of(keyForm(Side.Left))
    val order = KeyOrder.of(keyForm(Side.Left))
    BySide.make { side =>
      val plan = sides(side)
      val reader = SideReader.create(keyForm(side), Seq.fill(3)(plan.ranks.head), plan.output)
      new RowsToDeal(rows(side), reader, table, order, plan.output.size)
    }
  }

  /** Reads all rows, which tells whether to go on; if not they go by rank, and may go to disk. */
  private def readAll(
      sources: BySide[RowsToDeal],
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  )(isWorthIt: => Boolean): Boolean = {
    val bytes = Side.both.map(sources(_).rows.count * RowsToDeal.BytesPerRow.toLong).sum
    run.index.add(bytes)
    noteTime(Side.both.foreach(sources(_).readAll()))
    if (!isWorthIt) {
      run.index.add(-bytes)
      Side.both.foreach(sorts(_).letGo())
    }
    isWorthIt
  }

  private def noteTime[A](body: => A): A = {
    val start = System.nanoTime()
    val result = body
    metrics(JoinMetrics.SortTime) += TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
    result
  }

  private def joinByBucket(
      sources: BySide[RowsToDeal],
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  ): JoinedPairs = {
    val in = sources.map(_.rows.count.toLong)
    val dead = sources.map(_.takeOutDead())
    // The longer: what probes is read in any case, and has its reach computed.
    val built = if (sources.left.count > sources.right.count) Side.Left else Side.Right
    val dealt = noteTime(RowsToDeal.dealt(sources, built))
    run.index.add(dealt(built).largest.toLong * RadixJoin.BytesPerRow)
    val rows = sources.map(_.rows)
    for (side <- Side.both) rows(side).forgetNumbers()
    val touch =
      if (RowsToDeal.cameByKey(sources)) RadixJoin.Touch.Needless
      else new RadixJoinPairs.Fetch(rows)
    val core = new RadixJoin(dealt, built, roles, rankless(built), touch)
    val (builtPlan, probingPlan) = (sides(built), sides(built.other))
    val pairs = new RadixJoinPairs(
      core,
      rows,
      dead,
      keyForm(built),
      SideReader.create(keyForm(built.other), probing(probingPlan), probingPlan.output),
      SideReader.create(keyForm(built), Seq.fill(3)(Literal(0L)), builtPlan.output),
      roles,
      sides.map(_.output.size),
      accepts(run.context),
      TaskEnd.nowAndThen(run.context),
      () => run.ending.run()
    )
    run.ending.is { () =>
      count(in, dead, built, pairs)
      release(run, sorts.map(Some(_)))
    }
    pairs
  }

  private def accepts(context: TaskContext): InternalRow => Boolean =
    condition.fold[InternalRow => Boolean](_ => true)(
      CompiledCondition.stoppable(_, sides.left.output ++ sides.right.output, context)
    )

  private def count(
      core: JoinCore[SideReader, KeyGroup, UnsafeRow],
      pairs: SymmetricHashJoinPairs
  ): Unit = {
    for (side <- Side.both) {
      val counts = core.counts(side)
      metrics(JoinMetrics.rowsIn(side)) += counts.in
      metrics(JoinMetrics.rowsPruned(side)) += counts.pruned
      metrics(JoinMetrics.pairsByProbing(side)) += pairs.pairsByProbing(side)
      JoinMetrics.note(metrics(JoinMetrics.peakBuffered(side)), counts.peak)
    }
    metrics(JoinMetrics.OutputRows) += pairs.rowsOut
    JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), core.peakBuffered)
  }

  /** All rows that are dealt are held at once. */
  private def count(
      in: BySide[Long],
      dead: BySide[Array[Long]],
      built: Side,
      pairs: RadixJoinPairs
  ): Unit = {
    val held = BySide.make(side => in(side) - dead(side).length)
    for (side <- Side.both) {
      metrics(JoinMetrics.rowsIn(side)) += in(side)
      metrics(JoinMetrics.rowsPruned(side)) += dead(side).length
      JoinMetrics.note(metrics(JoinMetrics.peakBuffered(side)), held(side))
    }
    metrics(JoinMetrics.pairsByProbing(built)) += pairs.pairs
    metrics(JoinMetrics.RowsInBuckets) += held.left + held.right
    metrics(JoinMetrics.OutputRows) += pairs.rowsOut
    JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), held.left + held.right)
  }
}

object SymmetricHashJoinTask {

  /** Of fewer rows the one way is as quick as the other, and a join by rank holds fewer. */
  private val EnoughRows = 1 << 15

  /** So many pairs of equal keys to a row are compared in the time that sorting takes. */
  private val FewPairs = 8.0

  /** And where both sides come by key: no row is moved, and those of a key lie side by side. */
  private val FewWhereTheyLie = 128.0

  /** And in the time in which the reach of the simplest condition is solved. */
  private val FewToSolve = 64.0

  /** What a join of a task has, whichever way it goes. */
  final private class Run(val context: TaskContext) {
    val ending: JoinEnding = JoinEnding.of(context)
    val memory: TaskMemoryManager = TaskMemory.of(context)
    val index = new TaskIndexMemory(memory)
  }
}

/** Pairs that are decided upon when the first is asked for. */
final private class LaterPairs(decide: () => JoinedPairs) extends JoinedPairs {
  private var pairs: JoinedPairs = _
  private var isOver = false

  override def advance(): Boolean = !isOver && {
    if (pairs == null) pairs = decide()
    val isFound = pairs.advance()
    if (isFound) set(pairs.left, pairs.right)
    else {
      // What stands above the join may live on, and hold no index that is counted no more.
      isOver = true
      pairs = null
    }
    isFound
  }
}
