// SPDX-License-Identifier: Apache-2.0
// Laws, and examples for tightness.
package plait.interval

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite

class TurnsLaws extends LawSuite {
  private val bytes = Turns(Domain.Byte.everything)
  private def points(xs: Long*) = IntervalSet.points(xs.map(Rational(_)))
  private def closed(from: Long, to: Long) = IntervalSet.closed(Rational(from), Rational(to))

  private val whole = Gen.choose(-600L, 600L)

  property("what the JVM holds of a number in a set is in what is held of the set") {
    forAll(whole, Gen.listOf(whole)) { (x, others) =>
      val exact = points(x +: others: _*)
      bytes.held(exact).contains(Rational(x.toByte.toLong))
    }
  }

  property("a number is among those of its set of which the JVM holds what it holds") {
    forAll(whole, Gen.listOf(whole), Gen.listOf(Gen.choose(-128L, 127L))) { (x, others, values) =>
      val exact = points(x +: others: _*)
      bytes.exact(points(x.toByte.toLong +: values: _*), exact).contains(Rational(x))
    }
  }

  test("[120, 130] is held as [-128, -126] ∪ [120, 127], [-128, 127] as itself") {
    assertEquals(bytes.held(closed(120, 130)), closed(-128, -126).union(closed(120, 127)))
    assertEquals(bytes.held(closed(-128, 127)), closed(-128, 127))
  }

  test("of [0, 300], [1, 3] and [257, 259] are held as [1, 3]; of [0, 9000], who knows") {
    assertEquals(bytes.exact(closed(1, 3), closed(0, 300)), closed(1, 3).union(closed(257, 259)))
    assertEquals(bytes.exact(closed(1, 3), closed(0, 9000)), closed(0, 9000))
    assertEquals(bytes.exact(closed(1, 3), IntervalSet.All), IntervalSet.All)
  }
}
