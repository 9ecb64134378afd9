// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.plait.TaskWatch

import plait.join._
import plait.spark.RadixJoinChoice
import plait.spark.side._
import plait.{BySide, Side}

/** A join of rows that lie in memory, bucket by bucket ([[BucketJoin]]), where that is quicker than by their ranks:
  *
  * {{{
  * both came by key, and few rows share one           as they lie: MergeJoin
  * few rows share one, or they reach many of theirs   by hash: RadixJoin
  * }}}
  *
  * How many rows a key has is seen of those that came by key, and of others guessed from a sample; so is in how many pairs of
  * a key one row reaches the other. Where a reach is solved for each row, that takes longer than to compare the row with some
  * tens of others: it is not solved, and a row is compared with all of its key.
  *
  * It may be made anew for other rows once those of before are joined.
  */
final private[exec] class JoinByBucket(run: JoinRun) {
  import run.spec

  private val sorts = run.sorts.map(_.get)
  private val fields = spec.sides.map(_.output.size)
  private val isAlways = spec.radix == RadixJoinChoice.Always
  private lazy val dealing = BySide.make(side => spec.rankReader(side, spec.keyForm(side)))
  private lazy val ofRuns = BySide.make(spec.keyReader)
  private lazy val comparing =
    BySide.make(side => BucketJoinPairs.Keys(spec.keyForm(side), spec.keyReader(side)))
  private lazy val probing = BySide.make(side => spec.probingReader(side, spec.keyForm(side)))
  private lazy val probingAlone = BySide.make(side => spec.probingReader(side, KeyForm.of(Nil)))

  /** None where another way is better, or there is no room. */
  def pairs: Option[JoinedPairs] =
    for {
      left <- sorts.left.inMemory
      right <- sorts.right.inMemory
      inMemory = BySide(left, right)
      rows = left.count.toLong + right.count
      if isAlways || spec.isSolved || rows >= JoinByBucket.EnoughRows
      pairs <- fewInRuns(rows) match {
        case Some(runs) => asTheyLie(inMemory, runs)
        case None => byHash(inMemory)
      }
    } yield pairs

  /** Of sides that came by key, if few rows share one. */
  private def fewInRuns(rows: Long): Option[BySide[KeyRuns]] = for {
    left <- sorts.left.inRuns
    right <- sorts.right.inRuns
    few = fewPairs(JoinByBucket.FewWhereTheyLie) * rows
    if isAlways || KeyRuns.pairsAtMost(left, right) <= few
  } yield BySide(left, right)

  private def asTheyLie(
      rows: BySide[RankedRows],
      runs: BySide[KeyRuns]
  ): Option[JoinedPairs] = {
    val built = builtOf(runs.map(_.count))
    val dead = Side.both.map(side => (rows(side).count - runs(side).count).toLong).sum
    val bytes =
      runs(built).longest.toLong * MergeJoin.BytesPerRow + dead * RowsInRuns.BytesPerDeadRow
    Option.when(hasRoom(bytes)) {
      run.index.add(bytes)
      joinAsTheyLie(runs, built)
    }
  }

  private def byHash(rows: BySide[RankedRows]): Option[JoinedPairs] = {
    val sources = toDeal(rows)
    val count = rows.left.count.toLong + rows.right.count
    val pairs = RowsToDeal.pairs(sources, probing.left)
    val bytes = count * RowsToDeal.BytesPerRow + pairs
      .largest(builtOf(rows.map(_.count)))
      .toLong * RadixJoin.BytesPerRow
    Option.when(
      (isAlways || isWorthIt(pairs, count)) && hasRoom(bytes)
    )(joinByHash(sources))
  }

  /** Rows that are done at their first match may find it soon or go past all of their key: no more than they save. */
  private def isWorthIt(pairs: SampledPairs, count: Long): Boolean = {
    def pays(compared: Double, found: Double) =
      compared <= fewPairs(JoinByBucket.FewPairs) * count +
        JoinByBucket.ForOneReached * found
    // What is solved is not known of pairs that were not.
    pays(pairs.equal, if (spec.isSolved) 0 else pairs.reached) &&
    (!spec.settlesLeft || pays(pairs.tried, pairs.matched))
  }

  /** @param few
    *   if a reach is a formula
    */
  private def fewPairs(few: Double): Double =
    if (spec.isSolved) JoinByBucket.FewToSolve else few

  /** The longer: what probes is read in any case, and has its reach computed. But rows that are done at their first match
    * probe, or each row of the other side would go past those of its key that have had theirs.
    */
  private def builtOf(counts: BySide[Int]): Side =
    if (counts.left > counts.right && !spec.settlesLeft) Side.Left else Side.Right

  /** Room is not made by writing the rows that it is for. */
  private def hasRoom(bytes: Long): Boolean = {
    Side.both.foreach(sorts(_).keep())
    val isThere = spec.sequence match {
      case KeySequence.Known => run.index.hasRoomForNow(bytes)
      case KeySequence.Unknown => run.index.hasRoomFor(bytes)
    }
    if (!isThere) Side.both.foreach(sorts(_).letGo())
    isThere
  }

  private def toDeal(rows: BySide[RankedRows]): BySide[RowsToDeal] = {
    val table = HashKeyTable.of(spec.keyForm(Side.Left))
    BySide.make(side => new RowsToDeal(rows(side), dealing(side), table, fields(side)))
  }

  private def joinByHash(sources: BySide[RowsToDeal]): JoinedPairs = {
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
    spec.metrics(JoinMetrics.SortTime) += TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
    val keys = comparing(built)
    val reader = probing(built.other)
    val lying = sorts.map(_.kept)
    val kept = new BucketJoinPairs.Kept(lying(built), fields(built), run.index)
    val touch = new BucketJoinPairs.Touch(lying, built, keys, reader, kept, fields(built))
    val core = new RadixJoin(dealt, built, spec.roles, spec.rankless(built), touch)
    val buckets = dealt.map(new KeptRows.OfDealt(_))
    joinByBucket(core, lying, buckets, dead, reader, Some(keys), kept)
  }

  private def joinAsTheyLie(runs: BySide[KeyRuns], built: Side): JoinedPairs = {
    val lying = sorts.map(_.kept)
    val inRuns = BySide.make { side =>
      new RowsInRuns(lying(side), runs(side), ofRuns(side), fields(side), run.index)
    }
    val (ofBuilt, ofProbing) = (inRuns(built), inRuns(built.other))
    val order = run.keyOrder
    val core = new MergeJoin(
      inRuns,
      built,
      spec.roles,
      spec.rankless(built),
      (own, other) => order.compare(ofBuilt.key(own), ofProbing.key(other))
    )
    val compared = Option.when(!order.tellsApart)(comparing(built))
    val reader = (if (order.tellsApart) probingAlone else probing) (built.other)
    val kept = new BucketJoinPairs.Kept(lying(built), fields(built), run.index)
    joinByBucket(core, lying, inRuns, inRuns.map(_.dead), reader, compared, kept)
  }

  private def joinByBucket(
      core: BucketJoin,
      lying: BySide[KeptRows],
      buckets: BySide[KeptRows.Buckets],
      dead: BySide[Array[Long]],
      reader: SideReader,
      keys: Option[BucketJoinPairs.Keys],
      kept: BucketJoinPairs.Kept
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
      spec.roles,
      fields,
      run.accepts,
      TaskWatch.of(run.context),
      run.reading,
      () => run.ending.run()
    )
    for (side <- Side.both) sorts(side).whenShort(() => pairs.spill(side))
    run.ending.is { () =>
      count(in, dead, core.built, pairs)
      run.release()
    }
    pairs
  }

  /** All rows in buckets are held at once. */
  private def count(
      in: BySide[Long],
      dead: BySide[Array[Long]],
      built: Side,
      pairs: BucketJoinPairs
  ): Unit = {
    import spec.metrics
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

private object JoinByBucket {

  /** Of fewer rows the one way is as quick as the other, and a join by rank holds fewer. */
  private val EnoughRows = 1 << 15

  /** So many pairs of equal keys to a row are compared in the time that sorting takes. */
  private val FewPairs = 8.0

  /** And so many beside, in the time in which a join by rank finds one that is reached: its row lies far from the last. */
  private val ForOneReached = 40.0

  /** And where both sides came by key: no row is moved, and those of a key lie side by side. */
  private val FewWhereTheyLie = 128.0

  /** And in the time in which the reach of the simplest condition is solved. */
  private val FewToSolve = 64.0
}
