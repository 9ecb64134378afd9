// SPDX-License-Identifier: Apache-2.0
package plait.stream

import plait.join.Leaving

/** The rows of a side that leave, one way out for all of them: those that a frontier has passed, those that are too
  * old, or all.
  *
  * {{{
  * chunk         ends       until 12
  * 0             3 .. 9     all leave: removed unread, where none comes out
  * 1             8 .. 20    read; those below 12 leave, the chunk is written anew if half of it is gone
  * 2            15 .. 30    not read
  * }}}
  *
  * It may be left at each row that comes out and goes on behind it when it is called again.
  *
  * @param tooOld
  *   called before rows leave because of their age; it may throw
  */
final private[stream] class LeavingRows[R >: Null <: AnyRef](
    segments: StoredSegments[R],
    tooOld: () => Unit
) {
  // What is being taken: the rows that end before `until`, or all; segment, chunk, row of it.
  private var until = Long.MinValue
  private var takes: Taking = Taking.Nothing
  private var atSegment = 0
  private var atChunk = 0
  private var reading: Chunk[R] = _
  private var readingBits: Array[Long] = _
  private var atRow = 0
  private var keptRows = 0
  private var keptLeastEnd = Long.MaxValue
  private var keptLeastRank = Long.MaxValue

  private var expired = 0L

  /** How many rows have left because they were too old. */
  def expiredRows: Long = expired

  /** Drops the rows whose reach ends before the frontier.
    * @return how many
    */
  def takeDead(frontier: Long): Long = {
    val before = segments.size
    if (begin(frontier)) {
      val _ = take(Leaving.Silently)
    }
    before - segments.size
  }

  /** Drops rows whose reach ends before the frontier, up to the first one that is not marked.
    * @return that row, valid until the next call, or null if there is none
    */
  def takeUnmatched(frontier: Long): R =
    if ((takes ne Taking.Nothing) || begin(frontier)) take(Leaving.Aloud) else null

  /** Drops all rows. */
  def takeAll(): Long = {
    val before = segments.size
    beginWith(Taking.All)
    val _ = take(Leaving.Silently)
    before - segments.size
  }

  /** Drops rows up to the first one that is not marked, or null if there is none. */
  def takeUnmatchedOfAll(): R = {
    if (takes eq Taking.Nothing) beginWith(Taking.All)
    take(Leaving.Aloud)
  }

  /** Drops rows that are too old, up to the first one that is not marked, or null if there is none. */
  def takeExpired(): R = {
    if (takes eq Taking.Nothing) beginWith(Taking.Expired)
    take(Leaving.Aloud)
  }

  /** Drops all rows that are too old. */
  def dropExpired(): Unit = {
    beginWith(Taking.Expired)
    val _ = take(Leaving.Silently)
  }

  private def begin(frontier: Long): Boolean = {
    val moves = frontier > segments.frontier
    if (moves) {
      until = frontier
      beginWith(Taking.Dead)
    }
    moves
  }

  private def beginWith(what: Taking): Unit = {
    takes = what
    atSegment = 0
    atChunk = -1
  }

  private def leaves(segment: Segment, end: Long): Boolean = takes match {
    case Taking.All => true
    case Taking.Expired => segments.lifetime.isExpired(segment.born)
    case _ => end < until
  }

  private def take(leaving: Leaving): R = {
    var found: R = null
    // Invariant: what leaves and lies before segment, chunk and row has left, and came out if it should.
    while (found == null && atSegment < segments.all.size)
      if (reading == null) openChunk(leaving) else found = takeOfChunk(leaving)
    if (found == null) {
      takes match {
        case Taking.All => segments.reached(Frontier.Over)
        case Taking.Dead => segments.reached(until)
        case _ => ()
      }
      takes = Taking.Nothing
    }
    found
  }

  /** Goes on to the next chunk of which rows leave. */
  private def openChunk(leaving: Leaving): Unit = {
    val segment = segments.all(atSegment)
    atChunk += 1
    if (atChunk == segment.chunks) {
      atSegment += 1
      atChunk = -1
    } else if (segment.live(atChunk) > 0 && leaves(segment, segment.minEnd(atChunk))) {
      if ((leaving eq Leaving.Silently) && leaves(segment, segment.maxEnd(atChunk))) {
        left(segment.live(atChunk))
        segments.removeChunk(segment, atChunk)
      } else {
        reading = segments.store.chunk(segment.id, atChunk)
        readingBits = segments.store.bits(segment.id, atChunk)
        atRow = 0
        keptRows = 0
        keptLeastEnd = Long.MaxValue
        keptLeastRank = Long.MaxValue
      }
    }
  }

  private def left(rows: Int): Unit = {
    if (takes eq Taking.Expired) {
      tooOld()
      expired += rows
    }
    segments.left(rows)
  }

  private def takeOfChunk(leaving: Leaving): R = {
    var found: R = null
    // Invariant: the rows before `atRow` that are live and stay are counted as kept.
    while (found == null && atRow < reading.size) {
      if (segments.isLive(reading, atRow, readingBits)) {
        val end = reading.end(atRow)
        if (leaves(segments.all(atSegment), end)) {
          left(1)
          if ((leaving eq Leaving.Aloud) && !ChunkBits.isSet(readingBits, atRow))
            found = reading.row(atRow)
        } else {
          keptRows += 1
          keptLeastEnd = math.min(keptLeastEnd, end)
          keptLeastRank = math.min(keptLeastRank, reading.rank(atRow))
        }
      }
      atRow += 1
    }
    if (found == null) closeChunk()
    found
  }

  private def closeChunk(): Unit = {
    val segment = segments.all(atSegment)
    if (takes eq Taking.Dead) {
      segment.cleaned += segment.live(atChunk) - keptRows
      segment.readInVain += keptRows
    }
    if (keptRows == 0) segments.removeChunk(segment, atChunk)
    else if (keptRows <= segment.rows(atChunk) / 2)
      segments.rewriteChunk(segment, atChunk, reading, readingBits) { i =>
        segments.isLive(reading, i, readingBits) && !leaves(segment, reading.end(i))
      }
    else {
      segment.live(atChunk) = keptRows
      segment.minEnd(atChunk) = keptLeastEnd
      segment.minRank(atChunk) = keptLeastRank
      segment.isChanged = true
    }
    reading = null
  }
}

/** What is under way. */
sealed private trait Taking
private object Taking {
  case object Nothing extends Taking
  case object Dead extends Taking
  case object All extends Taking
  case object Expired extends Taking
}
