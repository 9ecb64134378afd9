// SPDX-License-Identifier: Apache-2.0
// Laws: the sizes of the pages that rows are held in.
package plait.spark

import plait.spark.side.PageGrowth

class PageGrowthLaws extends munit.FunSuite {

  /** What a store that only grows has in memory before each of its pages. */
  private def growing: Iterator[Long] =
    Iterator.iterate(0L)(inMemory => inMemory + PageGrowth.next(inMemory))

  test("32 GiB of rows are in fewer pages than a store may have, an eighth of Spark's table") {
    assert(growing.takeWhile(_ < (32L << 30)).size < PageGrowth.MostPages)
    assert(8 * PageGrowth.MostPages <= 8192)
  }

  test("a page is at most an eighth of what is in memory, and 64 KiB of little") {
    assert(growing.takeWhile(_ < (32L << 30)).forall { inMemory =>
      PageGrowth.next(inMemory) <= math.max(64L << 10, inMemory / 8)
    })
  }

  test("a page of a store that grows is at least as large as the one before") {
    val sizes = growing.takeWhile(_ < (32L << 30)).map(PageGrowth.next).toSeq
    assertEquals(sizes, sizes.sorted)
    assertEquals((sizes.head, sizes.last), (64L << 10, 64L << 20))
  }
}
