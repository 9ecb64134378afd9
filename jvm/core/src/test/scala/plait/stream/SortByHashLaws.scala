// SPDX-License-Identifier: Apache-2.0
// Laws: indices in the order of their hashes, against Scala's own stable sort.
package plait.stream

import scala.util.Random

import munit.FunSuite

class SortByHashLaws extends FunSuite {
  private val hashes = Seq[(String, Random => Int)](
    "any" -> (_.nextInt()),
    "few" -> (r => r.nextInt(9) - 4),
    "ends of the type" -> (r => Seq(Int.MinValue, -1, 0, 1, Int.MaxValue)(r.nextInt(5))),
    "that differ in high bits alone" -> (_.nextInt() & 0xffe00000),
    "all the same" -> (_ => -7)
  )

  for ((name, hash) <- hashes)
    test(s"hashes ascend, and of equal ones the first comes first: $name") {
      val random = new Random(1)
      for (count <- Seq(0, 1, 2, 511, 512, 513, 5000)) {
        val all = Array.fill(count + 3)(hash(random))
        val expected = Seq.range(0, count).sortBy(all(_))
        assertEquals(SortByHash.order(all, count).toSeq, expected, s"$count")
      }
    }
}
