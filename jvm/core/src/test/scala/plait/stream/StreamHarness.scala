// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util.Comparator

import scala.collection.mutable
import scala.util.Random

import plait.join.Harness._
import plait.join._
import plait.{BySide, Side}

/** Streams over plain Scala rows: a chunk store in maps, and joins batch by batch, each of which opens the
  * store anew as a restarted task would.
  */
object StreamHarness {
  type Key = (Long, Int)

  /** What is stored; a copy of it is a checkpoint. */
  final class Stored {
    var root: Option[StoreRoot] = None
    val segments: mutable.Map[Long, Seq[Long]] = mutable.Map.empty
    val chunks: mutable.Map[Key, Vector[Entry]] = mutable.Map.empty
    val bits: mutable.Map[Key, Seq[Long]] = mutable.Map.empty

    def copied: Stored = {
      val other = new Stored
      other.root = root
      other.segments ++= segments
      other.chunks ++= chunks
      other.bits ++= bits
      other
    }
  }

  final case class Entry(hash: Int, rank: Long, end: Long, row: Row)

  final class MapChunkStore(val stored: Stored, capacity: Int) extends ChunkStore[Row] {
    var chunksRead = 0
    var writes = 0

    private def bytes(row: Row): Int = 10 + row.id % 7
    def bytes: Long =
      stored.chunks.valuesIterator.flatten.map(entry => bytes(entry.row).toLong).sum

    def root(): Option[StoreRoot] = stored.root
    def saveRoot(root: StoreRoot): Unit = stored.root = Some(root)
    def segment(id: Long): Segment = Segment.decoded(id, stored.segments(id).toArray)
    def saveSegment(segment: Segment): Unit = {
      writes += 1
      stored.segments(segment.id) = Segment.encoded(segment).toSeq
    }
    def removeSegment(id: Long): Unit = stored.segments.remove(id): Unit

    def chunk(segment: Long, number: Int): Chunk[Row] = {
      chunksRead += 1
      val entries = stored.chunks((segment, number))
      new Chunk[Row] {
        def size: Int = entries.size
        def hash(i: Int): Int = entries(i).hash
        def rank(i: Int): Long = entries(i).rank
        def end(i: Int): Long = entries(i).end
        def row(i: Int): Row = entries(i).row
      }
    }
    def removeChunk(segment: Long, number: Int): Unit =
      assert(stored.chunks.remove((segment, number)).isDefined, "a chunk was removed twice")

    def bits(segment: Long, number: Int): Array[Long] =
      stored.bits.get((segment, number)).map(_.toArray).orNull
    def saveBits(segment: Long, number: Int, bits: Array[Long]): Unit =
      stored.bits((segment, number)) = bits.toSeq
    def removeBits(segment: Long, number: Int): Unit =
      assert(stored.bits.remove((segment, number)).isDefined, "there were no bits to remove")

    def newBuilder(): ChunkBuilder[Row] = new ChunkBuilder[Row] {
      private var entries = Vector.empty[Entry]
      val summary = new ChunkSummary
      def add(hash: Int, rank: Long, end: Long, row: Row): Unit = {
        assert(entries.isEmpty || entries.last.hash <= hash, "rows do not come by hash")
        entries :+= Entry(hash, rank, end, row)
        summary.note(hash, rank, end, bytes(row))
      }
      def isFull: Boolean = entries.size >= capacity
      def put(segment: Long, number: Int): Unit = {
        writes += 1
        stored.chunks((segment, number)) = entries
        entries = Vector.empty
        summary.clear()
      }
    }
  }

  final class Reader(rankless: Rankless) extends StreamReader[Row] {
    private var current: Row = _
    def read(row: Row): Unit = current = row
    // Of rows that may match without one, the rank of such rows is read as one.
    def hasRank: Boolean = current.rank.isDefined || (rankless eq Rankless.Matching)
    def rank: Long = current.rank.getOrElse(Rankless.Rank)
    def reaches: Boolean = current.reach.isDefined && hasRank
    def low: Long = current.reach.get._1
    def high: Long = current.reach.get._2
    // Keys 0 and 3, 1 and 4 ... share a hash.
    def hash: Int = (current.key % 3) * 1000000007
    private def key = current.key
    override def hashCode: Int = key
    override def equals(other: Any): Boolean = other match {
      case o: Reader => o.key == key
      case _ => false
    }
  }

  /** Looks readers up by the key of the row that they have read. */
  final class KeysOfReaders extends KeyTable[Reader, KeyGroup] {
    private val groups = mutable.Map.empty[Int, KeyGroup]
    def find(key: Reader): KeyGroup = groups.getOrElse(key.hashCode, null)
    def claim(key: Reader): KeyGroup = groups.getOrElseUpdate(key.hashCode, new KeyGroup)
    def release(key: KeyGroup): Unit = groups.filterInPlace((_, group) => group ne key): Unit
    def releaseUnused(key: KeyGroup): Unit = if (key.isEmpty) release(key)
    def clear(): Unit = groups.clear()
  }

  /** A join of streams, driven batch by batch. */
  final class Streams(
      roles: BySide[Role] = BySide(Role.Paired, Role.Paired),
      rankless: BySide[Rankless] = BySide(Rankless.Dead, Rankless.Dead),
      capacity: Int = 3,
      remembered: BySide[Long] = BySide(Long.MaxValue, Long.MaxValue),
      limit: Option[KeyLimit[Row]] = None,
      few: Int = 2
  )(matches: (Row, Row) => Boolean = (l, r) => mutual(l, r)) {
    var stored: BySide[Stored] = BySide(new Stored, new Stored)
    var frontiers: BySide[Long] = BySide(Long.MinValue, Long.MinValue)
    var chunksRead: BySide[Int] = BySide(0, 0)
    var writes: BySide[Int] = BySide(0, 0)
    var late: Seq[Row] = Nil

    /** The time of the next batch, for those that count. */
    var now: Long = 0L
    var afterEnd: Seq[Row] = Nil
    var evicted: BySide[Long] = BySide(0L, 0L)
    var largestKeys: BySide[Int] = BySide(0, 0)
    var lags: BySide[Long] = BySide(0L, 0L)
    private var held: BySide[Long] = BySide(0L, 0L)

    /** How many rows of a side wait, as its store has them. */
    def holds(side: Side): Long = held(side)

    /** The rows of a side that wait, looked up in its store. */
    def waiting(side: Side): Set[Int] = {
      val found = mutable.Set.empty[Int]
      val rows = opened(side)._2
      rows.restore(everything, (row, _, _, _, _, _) => found += row.id: Unit)
      found.toSet
    }

    private def opened(side: Side): (MapChunkStore, StoredRows[Row]) = {
      val store = new MapChunkStore(stored(side), capacity)
      val means =
        if (roles(side).matches eq Matching.Settles) MarkMeans.Gone else MarkMeans.Matched
      (store, new StoredRows[Row](store, means, lifetime(side), few = few))
    }

    private def lifetime(side: Side) =
      if (remembered(side) == Long.MaxValue) Lifetime.Endless else Lifetime(now, remembered(side))

    /** Runs one batch, and gives what comes out of it. */
    def batch(rows: Seq[(Side, Row)], next: BySide[Long] = frontiers): Seq[Out] = {
      frontiers = next
      stored = stored.map(_.copied)
      val open = BySide.make(opened)
      val pages: BySide[SortableRowStore[Row]] =
        BySide(new ArrayRowStore[Row], new ArrayRowStore[Row])
      val join = new StreamJoin[Reader, Row](
        rankless.map(new Reader(_)),
        new KeysOfReaders,
        pages,
        open.map(_._2),
        roles,
        rankless,
        next,
        limit
      )
      val arrived = rows.map { case (side, row) => row -> join.add(side, row) }
      late = arrived.collect { case (row, Arrival.Late) => row }
      afterEnd = arrived.collect { case (row, Arrival.AfterEnd) => row }
      val out = Seq.newBuilder[Out]
      var step = join.next()
      while (step ne Step.End) {
        step match {
          case Step.Alone => out += Alone(join.stepSide, join.stepRow.id)
          case _ =>
            val (l, r) =
              if (join.stepSide eq Side.Left) (join.stepRow, join.stepPartner)
              else (join.stepPartner, join.stepRow)
            if (matches(l, r)) {
              join.accept()
              roles.left match {
                case Role.Missing => ()
                case Role.Existing | Role.Marked => out += Matched(l.id, None)
                case _ => out += Matched(l.id, Some(r.id))
              }
            }
        }
        step = join.next()
      }
      held = BySide.make(join.waiting)
      evicted = BySide.make(join.evicted)
      largestKeys = BySide.make(join.largestKey)
      lags = BySide.make(join.lag)
      for (side <- Side.both)
        assert(
          open(side)._2.storedBytes == open(side)._1.bytes,
          s"not what the ${side.name} chunks take"
        )
      chunksRead = open.map(_._1.chunksRead)
      writes = open.map(_._1.writes)
      out.result()
    }

    /** The same batch once more, from where it began. */
    def again(from: BySide[Stored])(run: => Seq[Out]): Seq[Out] = {
      stored = from
      run
    }
  }

  /** What all readers' hashes are, of any rank. */
  def everything: Wanted = {
    val all = new Wanted
    for (hash <- Seq(0, 1, 2).map(_ * 1000000007))
      all.add(hash, Long.MinValue, Long.MaxValue, Long.MinValue)
    all.sort()
    all
  }

  val byId: Comparator[Row] = (a, b) => Integer.compare(a.id, b.id)

  /** Rows that are too many leave. */
  def evicting(most: Int): KeyLimit[Row] = new KeyLimit[Row](most, byId, (_, _) => ())

  /** A row whose reach is an interval of its own, around its rank or elsewhere, or without an end. */
  def randomRow(random: Random, id: Int, rank: Long): Row = {
    val (below, above) = (random.nextInt(8), random.nextInt(8))
    val reach = random.nextInt(20) match {
      case 0 => None
      case 1 => Some((rank + 3, rank - 3))
      case 2 => Some((rank - below, Long.MaxValue))
      case 3 => Some((Long.MinValue, rank + above))
      case _ => Some((rank - below, rank + above))
    }
    Row(id, random.nextInt(4), Option.when(random.nextInt(20) > 0)(rank), reach)
  }

  /** The rows are of one key and reach each other. */
  def mutual(l: Row, r: Row): Boolean = l.key == r.key && reaches(l, r) && reaches(r, l)

  private def reaches(from: Row, to: Row): Boolean =
    (from.reach, to.rank) match {
      case (Some((low, high)), Some(rank)) => low <= rank && rank <= high
      case _ => false
    }
}
