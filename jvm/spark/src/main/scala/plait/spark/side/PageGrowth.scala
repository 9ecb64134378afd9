// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

/** How large the next page of a store of rows is, by what the store has in memory:
  *
  * {{{
  * in memory      0 .. 1 MiB    .. 8 MiB           .. 64 MiB   .. 4 GiB         more
  * next page      64 KiB        an eighth of it    1 MiB       a 64th of it     64 MiB
  * }}}
  *
  * Two pages of a store cannot go to a file. An eighth at most leaves room for others in a task with little memory,
  * and rows that die give their memory back in steps that are small beside what is held.
  *
  * All that a task holds lies in at most 8,192 pages, whose numbers Spark has a table for: with pages of 1 MiB a task
  * of 8 GiB would end in an error where it should spill. With these 4 GiB are in some 450 pages, and each further
  * GiB in 16.
  */
object PageGrowth {
  val Smallest: Long = 64L * 1024
  private val Middle = 1024L * 1024
  private val Largest = 64L * 1024 * 1024

  /** With so many pages in memory a store spills before it takes another: an eighth of Spark's table. */
  val MostPages: Int = 1024

  /** A power of two. */
  def next(inMemory: Long): Long = {
    val wanted = math.min(inMemory / 8, math.max(Middle, inMemory / 64))
    math.max(Smallest, math.min(java.lang.Long.highestOneBit(wanted), Largest))
  }
}
