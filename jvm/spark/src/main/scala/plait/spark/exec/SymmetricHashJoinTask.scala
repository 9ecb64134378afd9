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
  * both sides would be sorted here, and all rows lie in memory:
  *   both came by key, and few rows share one          by bucket, as they lie: MergeJoin
  *   few rows share one, or they reach many of theirs  by bucket, by hash: RadixJoin
  * else                                                by rank: JoinCore
  * }}}
  *
  * How many rows a key has is seen of those that came by key, and of others guessed from a sample, once both sides are read;
  * so is in how many pairs of a key one row reaches the other.
  * Where a reach is solved for each row, that takes longer than to compare the row with some tens of others: by bucket it is
  * not solved, and a row is compared with all of its key.
  *
  * @param radix
  *   whether joins are made bucket by bucket
  */
final class SymmetricHashJoinTask(
    joinType: JoinType,
    sides: BySide[SidePlan],
    rankless: BySide[Rankless],
    condition: Option[Expression],
    sequence: KeySequence,
    radix: RadixJoinChoice,
    metrics: Map[String, SQLMetric],
    trace: Option[CollectionAccumulator[TracePoint]]
) extends Serializable {

  def join(inputs: BySide[Iterator[InternalRow]]): JoinedPairs = {
    val run = new SymmetricHashJoinTask.Run(TaskContext.get())
    val sorts = sides.map { side =>
      Option.when(side.isSortedHere)(
        new RankSort(side.ranks.head, side.output, metrics, run.reading)
      )
    }
    run.ending.is(() => release(run, sorts))
    def byRank = joinByRank(
      BySide.make { side =>
        sorts(side).fold(RowsByRank.asTheyCome(inputs(side)))(_.sorted(inputs(side)))
      },
      sorts,
      run
    )
    if (!mayGoByBucket) byRank
    else if (comeByKey) byKey(inputs, sorts, run, () => byRank)
    else
      PairsInTurn.of { () =>
        sorts.left.get.fill(inputs.left, Some(watch(Side.Left)))
        // Then the right side may not have to be read.
        if (sorts.left.get.isEmpty && (roles.right.leaves eq Leaving.Silently)) byRank
        else {
          // One side alone does not help.
          sorts.right.get.fill(inputs.right, sorts.left.get.inRuns.map(_ => watch(Side.Right)))
          byBucket(sorts.map(_.get), run).getOrElse(byRank)
        }
      }
  }

  private def comeByKey: Boolean = sequence eq KeySequence.Known

  private def byKey(
      inputs: BySide[Iterator[InternalRow]],
      sorts: BySide[Option[RankSort]],
      run: SymmetricHashJoinTask.Run,
      byRank: () => JoinedPairs
  ): JoinedPairs = {
    val order = KeyOrder.of(keyForm(Side.Left)).get
    val rows = BySide.make(side => rowsByKey(side, inputs(side), order, sorts(side).get))
    val portions = new KeyPortions(rows, order)
    val fields = sides.right.output.size
    val none = KeyForm.of(Nil)
    val merged = new MergedPairs(
      rows,
      portions,
      roles,
      SideReader.create(none, Seq.fill(3)(sides.right.ranks.head), sides.right.output),
      probingReader(Side.Left, none),
      fields,
      accepts(run.context),
      run.reading
    )
    val merging = JoinEnding.of(run.context)
    merging.is(() => count(rows, merged))
    def storedPairs(): JoinedPairs = {
      run.ending.is(() => release(run, sorts))
      portions.store(merged.before)
      merged.goOn()
      byBucket(sorts.map(_.get), run).getOrElse(byRank())
    }
    var isMerging = false
    new PairsInTurn(() => {
      isMerging = !isMerging
      if (isMerging) Some(merged)
      else if (merged.isOver) {
        merging.run()
        None
      } else Some(storedPairs())
    })
  }

  private def rowsByKey(
      side: Side,
      rows: Iterator[InternalRow],
      order: KeyOrder,
      sort: RankSort
  ): RowsByKey = {
    val plan = sides(side)
    val ofKey = SideReader.create(keyForm(side), Seq.fill(3)(Literal(0L)), plan.output)
    val ofRank = SideReader.create(Nil, Seq.fill(3)(plan.ranks.head), plan.output)
    new RowsByKey(rows, ofKey, order, ofRank, sort, roles(side).leaves, side.name)
  }

  private def mayGoByBucket: Boolean =
    radix != RadixJoinChoice.Never && trace.isEmpty && sides.left.keys.nonEmpty &&
      Side.both.forall(sides(_).isSortedHere)

  /** Whether to see if a side comes by key: not in a join that is likely to have too few rows to use it. */
  private def watch(side: Side): RunsSeen.Watch = RunsSeen.Watch(
    keyForm(side),
    after = if (radix == RadixJoinChoice.Always) 0 else SymmetricHashJoinTask.FirstRows
  )

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
    val stores =
      sides.map(s => new PagedRowStore(run.memory, s.output.size, target, reading = run.reading))
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
      run.reading,
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
      inMemory = BySide(left, right)
      rows = left.count.toLong + right.count
      if radix == RadixJoinChoice.Always || isSolved || rows >= SymmetricHashJoinTask.EnoughRows
      pairs <- fewInRuns(sorts, rows) match {
        case Some(runs) => asTheyLie(inMemory, runs, sorts, run)
        case None => byHash(inMemory, sorts, run)
      }
    } yield pairs

  /** Of sides that came by key, if few rows share one. */
  private def fewInRuns(sorts: BySide[RankSort], rows: Long): Option[BySide[KeyRuns]] = for {
    left <- sorts.left.inRuns
    right <- sorts.right.inRuns
    few = fewPairs(SymmetricHashJoinTask.FewWhereTheyLie) * rows
    if radix == RadixJoinChoice.Always || KeyRuns.pairsAtMost(left, right) <= few
  } yield BySide(left, right)

  private def asTheyLie(
      rows: BySide[RankedRows],
      runs: BySide[KeyRuns],
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  ): Option[JoinedPairs] = {
    val built = builtOf(runs.map(_.count))
    val dead = Side.both.map(side => (rows(side).count - runs(side).count).toLong).sum
    val bytes =
      runs(built).longest.toLong * MergeJoin.BytesPerRow + dead * RowsInRuns.BytesPerDeadRow
    Option.when(hasRoom(sorts, bytes, run)) {
      run.index.add(bytes)
      joinAsTheyLie(runs, built, sorts, run)
    }
  }

  private def byHash(
      rows: BySide[RankedRows],
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  ): Option[JoinedPairs] = {
    val sources = toDeal(rows)
    val count = rows.left.count.toLong + rows.right.count
    val pairs = RowsToDeal.pairs(sources, reaching(Side.Left))
    val bytes = count * RowsToDeal.BytesPerRow + pairs
      .largest(builtOf(rows.map(_.count)))
      .toLong * RadixJoin.BytesPerRow
    Option.when(
      (radix == RadixJoinChoice.Always || isWorthIt(pairs, count)) && hasRoom(sorts, bytes, run)
    )(
      joinByHash(sources, sorts, run)
    )
  }

  /** Rows that are done at their first match may find it soon or go past all of their key: no more than they save. */
  private def isWorthIt(pairs: SampledPairs, count: Long): Boolean = {
    def pays(compared: Double, found: Double) =
      compared <= fewPairs(SymmetricHashJoinTask.FewPairs) * count +
        SymmetricHashJoinTask.ForOneReached * found
    // What is solved is not known of pairs that were not.
    pays(pairs.equal, if (isSolved) 0 else pairs.reached) &&
    (!settlesLeft || pays(pairs.tried, pairs.matched))
  }

  /** Is a left row done at its first match? */
  private def settlesLeft: Boolean = roles.left.matches eq Matching.Settles

  /** @param few
    *   if a reach is a formula
    */
  private def fewPairs(few: Double): Double =
    if (isSolved) SymmetricHashJoinTask.FewToSolve else few

  /** The longer: what probes is read in any case, and has its reach computed. But rows that are done at their first match
    * probe, or each row of the other side would go past those of its key that have had theirs.
    */
  private def builtOf(counts: BySide[Int]): Side =
    if (counts.left > counts.right && !settlesLeft) Side.Left else Side.Right

  private def isSolved: Boolean =
    Side.both.exists(sides(_).ranks.exists(_.exists(_.isInstanceOf[SolvedReachValue])))

  private def reaching(side: Side): SideReader =
    SideReader.create(keyForm(side), probing(sides(side)), sides(side).output)

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

  private def keyForm(side: Side) =
    if (comeByKey) KeyForm.inSequence(sides(side).keys) else KeyForm.inMemory(sides(side).keys)
  private def roles = JoinOutput.roles(joinType).get

  private def toDeal(rows: BySide[RankedRows]): BySide[RowsToDeal] = {
    val table = HashKeyTable.of(keyForm(Side.Left))
    BySide.make { side =>
      val plan = sides(side)
      val reader = SideReader.create(keyForm(side), Seq.fill(3)(plan.ranks.head), plan.output)
      new RowsToDeal(rows(side), reader, table, plan.output.size)
    }
  }

  private def joinByHash(
      sources: BySide[RowsToDeal],
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  ): JoinedPairs = {
    val start = System.nanoTime()
    val rows = sources.map(_.rows)
    run.index.add((rows.left.count.toLong + rows.right.count) * RowsToDeal.BytesPerRow)
    val dead = sources.map(_.readAll())
    val counts = sources.map(_.count)
    val bits = DealtRows.bitsFor(counts.left.toLong + counts.right)
    val dealt = sources.map(DealtRows.of(_, bits))
    val built = builtOf(counts)
    run.index.add(dealt(built).largest.toLong * RadixJoin.BytesPerRow)
    for (side <- Side.both) rows(side).forgetNumbers()
    metrics(JoinMetrics.SortTime) += TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
    val keys = keysOf(built)
    val reader = probingReader(built.other, keyForm(built.other))
    val fields = sides(built).output.size
    val lying = sorts.map(_.kept)
    val kept = new BucketJoinPairs.Kept(lying(built), fields, run.index)
    val touch = new BucketJoinPairs.Touch(lying, built, keys, reader, kept, fields)
    val core = new RadixJoin(dealt, built, roles, rankless(built), touch)
    val buckets = dealt.map(new KeptRows.OfDealt(_))
    joinByBucket(core, lying, buckets, dead, reader, Some(keys), kept, sorts, run)
  }

  private def joinAsTheyLie(
      runs: BySide[KeyRuns],
      built: Side,
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  ): JoinedPairs = {
    val lying = sorts.map(_.kept)
    val inRuns = BySide.make { side =>
      new RowsInRuns(
        lying(side),
        runs(side),
        keysOf(side).reader,
        sides(side).output.size,
        run.index
      )
    }
    val (ofBuilt, ofProbing) = (inRuns(built), inRuns(built.other))
    val order = KeyOrder.of(keyForm(Side.Left)).get
    val core = new MergeJoin(
      inRuns,
      built,
      roles,
      rankless(built),
      (own, other) => order.compare(ofBuilt.key(own), ofProbing.key(other))
    )
    val compared = Option.when(!order.tellsApart)(keysOf(built))
    val form = compared.fold(KeyForm.of(Nil))(_ => keyForm(built.other))
    val reader = probingReader(built.other, form)
    val kept = new BucketJoinPairs.Kept(lying(built), sides(built).output.size, run.index)
    joinByBucket(core, lying, inRuns, inRuns.map(_.dead), reader, compared, kept, sorts, run)
  }

  /** Of rows that probe: the key in this form, rank and reach. */
  private def probingReader(side: Side, key: KeyForm): SideReader =
    SideReader.create(key, probing(sides(side)), sides(side).output)

  private def keysOf(side: Side) = BucketJoinPairs.Keys(
    keyForm(side),
    SideReader.create(keyForm(side), Seq.fill(3)(Literal(0L)), sides(side).output)
  )

  private def joinByBucket(
      core: BucketJoin,
      lying: BySide[KeptRows],
      buckets: BySide[KeptRows.Buckets],
      dead: BySide[Array[Long]],
      reader: SideReader,
      keys: Option[BucketJoinPairs.Keys],
      kept: BucketJoinPairs.Kept,
      sorts: BySide[RankSort],
      run: SymmetricHashJoinTask.Run
  ): JoinedPairs = {
    val in = lying.map(_.inMemory.count.toLong)
    val pairs = new BucketJoinPairs(
      core,
      lying,
      buckets,
      dead,
      reader,
      keys,
      kept,
      roles,
      sides.map(_.output.size),
      accepts(run.context),
      TaskEnd.afterRows(run.context),
      run.reading,
      () => run.ending.run()
    )
    for (side <- Side.both) sorts(side).whenShort(() => pairs.spill(side))
    run.ending.is { () =>
      count(in, dead, core.built, pairs)
      release(run, sorts.map(Some(_)))
    }
    pairs
  }

  private def accepts(context: TaskContext): PairTest =
    PairTest.stoppable(condition, sides.map(_.output), context)

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

  /** What was merged; what was stored is counted by who joins it. */
  private def count(rows: BySide[RowsByKey], merged: MergedPairs): Unit = {
    for (side <- Side.both) {
      metrics(JoinMetrics.rowsIn(side)) += rows(side).merged
      metrics(JoinMetrics.rowsPruned(side)) += rows(side).passed
      metrics(JoinMetrics.RowsByKey) += rows(side).merged
    }
    metrics(JoinMetrics.pairsByProbing(Side.Right)) += merged.pairs
    metrics(JoinMetrics.OutputRows) += merged.rowsOut
    JoinMetrics.note(metrics(JoinMetrics.peakBuffered(Side.Left)), 0)
    JoinMetrics.note(metrics(JoinMetrics.peakBuffered(Side.Right)), merged.peak.toLong)
    JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), merged.peak.toLong)
  }

  /** All rows in buckets are held at once. */
  private def count(
      in: BySide[Long],
      dead: BySide[Array[Long]],
      built: Side,
      pairs: BucketJoinPairs
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

  /** So many rows of a side have come before their keys are looked at. */
  private val FirstRows = 1024

  /** So many pairs of equal keys to a row are compared in the time that sorting takes. */
  private val FewPairs = 8.0

  /** And so many beside, in the time in which a join by rank finds one that is reached: its row lies far from the last. */
  private val ForOneReached = 40.0

  /** And where both sides came by key: no row is moved, and those of a key lie side by side. */
  private val FewWhereTheyLie = 128.0

  /** And in the time in which the reach of the simplest condition is solved. */
  private val FewToSolve = 64.0

  /** What a join of a task has, whichever way it goes. */
  final private class Run(val context: TaskContext) {
    val ending: JoinEnding = JoinEnding.of(context)
    val memory: TaskMemoryManager = TaskMemory.of(context)
    val index = new TaskIndexMemory(memory)
    val reading = new ReadingThread
  }
}

/** Pairs of one join after the other.
  *
  * @param next
  *   begins with the next one, if there is one
  */
final private class PairsInTurn(next: () => Option[JoinedPairs]) extends JoinedPairs {
  private var pairs: JoinedPairs = _
  private var isOver = false

  override def advance(): Boolean = {
    var isFound = pairs != null && pairs.advance()
    // Invariant: the joins before `pairs` were given.
    while (!isFound && !isOver) {
      // What stands above may live on, and hold no index that is counted no more.
      pairs = next().orNull
      isOver = pairs == null
      isFound = !isOver && pairs.advance()
    }
    if (isFound) set(pairs.left, pairs.right) else pairs = null
    isFound
  }
}

private object PairsInTurn {

  /** Of one join, that is decided upon when the first pair is asked for. */
  def of(decide: () => JoinedPairs): PairsInTurn = {
    var isDecided = false
    new PairsInTurn(() => {
      val isFirst = !isDecided
      isDecided = true
      Option.when(isFirst)(decide())
    })
  }
}
