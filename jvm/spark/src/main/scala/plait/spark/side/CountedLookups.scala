// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

/** What one task has looked up in a collected side: the counters of [[JoinMetrics.ofCollected]]. */
trait CountedLookups {

  /** How many rows are indexed. */
  def size: Int

  /** How many keys and intervals were looked up. */
  def probes: Long

  /** How many rows were given. */
  def candidates: Long

  /** The task ends. */
  def end(): Unit = ()
}
