// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import scala.collection.mutable

/** The newest records of something that goes on, numbered from 1; those who read wait here for more.
  *
  * {{{
  * most = 2      add a, add b, add c        after(0) is b (2) and c (3), after(2) is c (3), after(3) waits
  * }}}
  *
  * Whoever adds never waits, and nothing is kept for a reader: one that is slow misses the oldest.
  */
final class NewestRecords(most: Int) {
  private val kept = mutable.Queue.empty[(Long, String)]
  private var number = 0L
  private var over = false

  def add(record: String): Unit = synchronized {
    number += 1
    kept.enqueue(number -> record)
    while (kept.sizeIs > most) kept.dequeue(): Unit
    notifyAll()
  }

  /** No more will come. */
  def end(): Unit = synchronized {
    over = true
    notifyAll()
  }

  def isOver: Boolean = synchronized(over)

  def last: Option[(Long, String)] = synchronized(kept.lastOption)

  /** Those with a higher number; where there are none, waits so long for one, or for the end. */
  def after(number: Long, millis: Long): Seq[(Long, String)] = synchronized {
    val end = System.nanoTime + millis * 1000000L
    def left: Long = (end - System.nanoTime) / 1000000L
    while (this.number <= number && !over && left > 0) wait(left)
    kept.filter(_._1 > number).toSeq
  }
}
