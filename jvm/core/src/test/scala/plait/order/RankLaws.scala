// SPDX-License-Identifier: Apache-2.0
// Laws: the rank of a value against the ranks of ends around it.
package plait.order

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.LawSuite
import plait.interval.Bound.{Closed, Open}
import plait.interval.{Bound, Domain, IntervalSet, Possible, Rational, Specials}

class RankLaws extends LawSuite {

  /** Few letters, so that texts share their beginnings; the first and the last byte among them. */
  private val text: Gen[Array[Byte]] = for {
    size <- Gen.choose(0, 12)
    bytes <- Gen.listOfN(size, Gen.oneOf(Seq(0, 1, 97, 98, 127, 128, 255).map(_.toByte)))
  } yield bytes.toArray

  /** As Spark's UTF8String says it. */
  private def prefix(text: Array[Byte]): Long =
    text.take(8).padTo(8, 0: Byte).foldLeft(0L)((sum, byte) => (sum << 8) | (byte & 0xff))

  private def rankOf(text: Array[Byte]): Long = Rank.ofText(prefix(text))
  private val rank = Rank.of(Domain.Text).get

  property("texts: the ends of an interval with a text in it have its rank between theirs") {
    val fraction = Gen.choose(0L, Long.MaxValue).map(x => Rational(BigInt(x), BigInt(1) << 63))
    forAll(text, Gen.oneOf(text.map(Domain.Text.number), fraction)) { (value, x) =>
      val at = Domain.Text.number(value)
      Seq(Closed(x), Open(x)).forall { end =>
        (x > at || rank.low(end) <= rankOf(value)) && (x < at || rankOf(value) <= rank.high(end))
      }
    }
  }

  test("texts: between the empty one and that of one zero byte there is none") {
    for (x <- Seq(Rational(1, 258), Rational(1, 257), Rational(1, 1000000)); zero = Array[Byte](0))
      assert(rank.low(Closed(x)) <= rankOf(zero) && rankOf(zero) <= rank.high(Closed(x)))
  }

  property("texts: the values of at least a rank, and of at most, are between its ends") {
    forAll(text, text) { (a, b) =>
      val at = Domain.Text.number(a)
      val (from, until) = (rank.from(rankOf(b)), rank.until(rankOf(b)))
      (rankOf(a) < rankOf(b) || Bound.at(from) <= at) &&
      (rankOf(a) > rankOf(b) || at < Bound.at(until))
    }
  }

  property("texts: the rank of a closed end is the text's own") {
    forAll(text) { value =>
      val end = Closed(Domain.Text.number(value))
      rank.low(end) == rankOf(value) && rank.high(end) == rankOf(value)
    }
  }

  property("numbers: the values of at least a rank, and of at most, are those that it has") {
    val domains = Seq[Domain](Domain.Long, Domain.Double, Domain.Float) :+
      Domain.Decimal(9, 2) :+ Domain.Decimal(20, 2)
    val numbers = Gen.choose(-1000000L, 1000000L)
    forAll(Gen.oneOf(domains), numbers, numbers) { (domain, x, y) =>
      val unit = domain match {
        case _: Domain.Decimal => 100
        case _: Domain.Floating => 64
        case _ => 1
      }
      val (a, b) = (Rational(BigInt(x), BigInt(unit)), Rational(BigInt(y), BigInt(unit)))
      val of = Rank.of(domain).get
      def rankOf(number: Rational) = of.low(Closed(number))
      val holds = (of.from(rankOf(a)), of.until(rankOf(a))) match {
        case (Closed(from), Closed(until)) =>
          (rankOf(b) < rankOf(a) || b >= from) && (rankOf(b) > rankOf(a) || b <= until)
        case (Closed(from), Open(until)) =>
          (rankOf(b) < rankOf(a) || b >= from) && (rankOf(b) > rankOf(a) || b < until)
        case _ => false
      }
      holds && of.low(of.from(rankOf(a))) == rankOf(a)
    }
  }

  test("what no text is: below all of them, and from 1 on above all") {
    for (x <- Seq(Rational(-1), Rational.Zero)) assertEquals(rank.low(Closed(x)), Long.MinValue)
    for (x <- Seq(Rational.One, Rational(7))) assertEquals(rank.high(Open(x)), Long.MaxValue)
  }

  property(
    "doubles: along either order none of a set comes before the first or after the last, NaN either"
  ) {
    val some =
      Gen.oneOf(Gen.const(Double.NaN), Gen.oneOf(-2.5, -0.0, 0.0, 1e300, -1e300), Gen.double)
    forAll(Gen.nonEmptyListOf(some)) { all =>
      val (special, numbers) = all.partition(_.isNaN)
      val possible = Possible(
        if (numbers.isEmpty) IntervalSet.Empty
        else IntervalSet.closed(Rational.of(numbers.min), Rational.of(numbers.max)),
        if (special.isEmpty) Specials.Null else Specials.NullOrNaN
      )
      val of = Rank.of(Domain.Double).get
      all.forall { x =>
        val rank = Rank.ofDouble(x)
        Seq(Direction.Ascending -> rank, Direction.Descending -> ~rank).forall { case (along, at) =>
          of.first(possible, along) <= at && at <= of.last(possible, along)
        }
      }
    }
  }

  property(
    "types whose ranks agree: a value of one is before a value of the other as its rank is"
  ) {
    val whole = Seq(Domain.Byte, Domain.Short, Domain.Int, Domain.Long)
    val numbers = Gen.choose(-128L, 127L).map(Rational(_))
    val halves = Gen.choose(-100L, 100L).map(n => Rational(BigInt(n), BigInt(2)))
    val alike = Gen.oneOf(whole -> numbers, Seq[Domain](Domain.Float, Domain.Double) -> halves)
    forAll(alike.flatMap { case (domains, values) =>
      Gen.zip(Gen.oneOf(domains), Gen.oneOf(domains), values, values)
    }) { case (one, other, a, b) =>
      def of(domain: Domain, value: Rational) = Rank.of(domain).get.low(Closed(value))
      Rank.agree(one, other) && a.compare(b).sign == of(one, a).compare(of(other, b)).sign
    }
  }

  test(
    "types whose ranks do not agree: dates and timestamps, decimals of two scales, integers and doubles"
  ) {
    for {
      (one, other) <- Seq[(Domain, Domain)](
        Domain.Date -> Domain.Timestamp,
        Domain.Decimal(9, 2) -> Domain.Decimal(9, 1),
        Domain.Int -> Domain.Double
      )
    } assert(!Rank.agree(one, other) && !Rank.agree(other, one))
  }
}
