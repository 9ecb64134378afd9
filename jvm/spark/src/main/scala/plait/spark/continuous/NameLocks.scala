// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.ReentrantLock

/** One lock a name: what is done under a name waits for what is done under the same one, and for nothing else.
  *
  * {{{
  * alone("a")(slow)   alone("b")(quick)      at the same time
  * alone("a")(slow)   alone("a")(quick)      one after the other
  * }}}
  *
  *   1. Who waits can be interrupted, and then does nothing.
  *   1. Inside, the same thread may take the name again.
  *   1. A name is known while somebody has it or waits for it.
  */
final private[continuous] class NameLocks {
  private val all = new ConcurrentHashMap[String, Held]

  /** Throws `InterruptedException` if the thread is interrupted before its turn. */
  def alone[A](name: String)(body: => A): A = {
    val held = all.compute(name, (_, before) => Option(before).getOrElse(new Held).one(+1))
    try {
      held.lock.lockInterruptibly()
      try body
      finally held.lock.unlock()
    } finally all.compute(name, (_, here) => Some(here.one(-1)).filter(_.isWanted).orNull): Unit
  }

  /** How many names are known. */
  def size: Int = all.size

  /** Counted under the map's own lock of its name. */
  final private class Held {
    val lock = new ReentrantLock
    private var wanted = 0

    def isWanted: Boolean = wanted > 0

    def one(more: Int): Held = {
      wanted += more
      this
    }
  }
}

private[continuous] object NameLocks {

  /** Of tables, by their whole names: who makes, fills or drops one does so alone. */
  val OfTables = new NameLocks

  /** Of checkpoints, by their paths as they are written: one stream starts from each at a time. */
  val OfCheckpoints = new NameLocks
}
