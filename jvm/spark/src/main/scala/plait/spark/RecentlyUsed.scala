// SPDX-License-Identifier: Apache-2.0
package plait.spark

/** What was worked out last, for all threads of a JVM: of more than `most` keys the one that was asked for longest ago is
  * forgotten.
  *
  * {{{
  * most 2      put a, put b, get a, put c      a and c
  * }}}
  */
final class RecentlyUsed[K, V](most: Int) {
  private val kept = new java.util.LinkedHashMap[K, V](16, 0.75f, true) {
    override def removeEldestEntry(eldest: java.util.Map.Entry[K, V]): Boolean = size > most
  }

  def isEmpty: Boolean = synchronized(kept.isEmpty)

  def get(key: K): Option[V] = synchronized(Option(kept.get(key)))

  def put(key: K, value: V): Unit = synchronized(kept.put(key, value)): Unit

  def remove(key: K): Unit = synchronized(kept.remove(key)): Unit
}
