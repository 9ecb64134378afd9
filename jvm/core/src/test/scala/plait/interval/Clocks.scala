// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.time._
import java.time.zone.ZoneOffsetTransition

import scala.jdk.CollectionConverters._

import org.scalacheck.{Gen, Prop}

import plait.interval.Bound.{Closed, Open, Unbounded}

/** Random zones, instants close to transitions, and sets around them; what `java.time` makes of a
  * single instant.
  */
object Clocks {
  val berlin: ZoneId = ZoneId.of("Europe/Berlin")
  val stJohns: ZoneId = ZoneId.of("America/St_Johns")
  val apia: ZoneId = ZoneId.of("Pacific/Apia")
  val kolkata: ZoneId = ZoneId.of("Asia/Kolkata")
  val newYork: ZoneId = ZoneId.of("America/New_York")
  val zones: Seq[ZoneId] = Seq(ZoneOffset.UTC, berlin, newYork, stJohns, apia, kolkata)

  val second = 1000000L
  val hour: Long = 3600 * second
  val day: Long = 24 * hour
  val year: Long = 365 * day

  val zone: Gen[ZoneId] = Gen.frequency(
    1 -> Gen.const(ZoneOffset.UTC),
    12 -> Gen.oneOf(zones.tail)
  )

  def instant(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, second), Math.floorMod(micros, second) * 1000)

  def micros(instant: Instant): BigInt =
    BigInt(instant.getEpochSecond) * second + instant.getNano / 1000

  def micros(local: LocalDateTime): BigInt = micros(local.toInstant(ZoneOffset.UTC))
  def micros(text: String): Long = micros(LocalDateTime.parse(text)).toLong
  def days(text: String): Long = LocalDate.parse(text).toEpochDay

  def local(micros: Long): LocalDateTime = LocalDateTime.ofInstant(instant(micros), ZoneOffset.UTC)
  def shown(micros: Long, zone: ZoneId): LocalDateTime =
    LocalDateTime.ofInstant(instant(micros), zone)
  def zoned(micros: Long, zone: ZoneId): ZonedDateTime = instant(micros).atZone(zone)

  private val size: Gen[Long] = Gen.oneOf(1L, second, hour, day, 20 * day, year, 300 * year)

  /** From a microsecond to centuries, many of them round. */
  val length: Gen[Long] = Gen.frequency(
    1 -> Gen.const(0L),
    2 -> (for { s <- size; n <- Gen.choose(1L, 3L) } yield s * n),
    4 -> size.flatMap(Gen.choose(0L, _))
  )

  private val near: Gen[Long] =
    for {
      d <- length; sign <- Gen.oneOf(-1, 1); scale <- Gen.oneOf(1L, 1L, 300L)
    } yield sign * d / scale

  private val transitions: Map[ZoneId, IndexedSeq[ZoneOffsetTransition]] =
    zones.map(z => z -> z.getRules.getTransitions.asScala.toVector).toMap

  private val largest: Map[ZoneId, Option[ZoneOffsetTransition]] =
    transitions.transform((_, all) => all.sortBy(_.getDuration.abs).lastOption)

  private def transition(zone: ZoneId): Gen[Option[ZoneOffsetTransition]] = {
    val all = transitions(zone)
    def after(years: Int) = zone.getRules.nextTransition(instant(in2012 + years * year))
    if (all.isEmpty) Gen.const(None)
    else
      Gen.frequency(
        6 -> Gen.choose(0, all.size - 1).map(i => Some(all(i))),
        2 -> Gen.const(largest(zone)),
        4 -> Gen.choose(0, 150).map(years => Option(after(years))),
        1 -> Gen.choose(0, 200000).map(years => Option(after(years)))
      )
  }
  private lazy val in2012 = micros("2012-01-01T00:00")

  def instants(zone: ZoneId): Gen[Long] = Gen.frequency(
    8 -> (for { t <- transition(zone); d <- near } yield t.fold(0L)(_.toEpochSecond * second) + d),
    2 -> Gen.choose(-120 * year, 180 * year),
    1 -> Gen.choose(-9000000000000000000L, 9000000000000000000L)
  )

  def locals(zone: ZoneId): Gen[Long] = for {
    t <- instants(zone)
    sign <- Gen.oneOf(-1L, 1L)
  } yield t + sign * zone.getRules.getOffset(instant(t)).getTotalSeconds * second

  private def end(x: BigInt, towards: Int, away: Gen[Long]): Gen[Bound[Rational]] = Gen.frequency(
    8 -> away.map(d => Closed(Rational(x + towards * d))),
    3 -> away.map(d => Open(Rational(x + towards * (d + 1)))),
    1 -> away.map(d => Open(Rational(x * 2 + towards * (2 * d + 1), BigInt(2)))),
    1 -> Gen.const(Unbounded)
  )

  /** A set with a number in it, sometimes with another interval beside it. */
  def around(x: BigInt, away: Gen[Long]): Gen[IntervalSet] = {
    val span =
      for { from <- end(x, -1, away); to <- end(x, 1, away) } yield IntervalSet.span(from, to)
    Gen.frequency(
      2 -> Gen.const(IntervalSet.point(Rational(x))),
      6 -> span,
      1 -> (for { a <- span; d <- away } yield a.union(IntervalSet.point(Rational(x + d))))
    )
  }

  /** Does an operation keep its laws, at arguments and a result that go together? Each argument comes
    * with how far the ends of its sets are away.
    */
  def keepsLaws(op: RealOperation, result: BigInt, ofResult: Gen[Long] = length)(
      values: (BigInt, Gen[Long])*
  ): Prop =
    Prop.forAllNoShrink(
      Gen.sequence[Vector[IntervalSet], IntervalSet](values.map { case (x, away) =>
        around(x, away)
      }),
      around(result, ofResult)
    ) { (as, r) =>
      def has(set: IntervalSet, x: BigInt, what: => String) =
        if (set.contains(Rational(x))) Prop.passed
        else Prop.falsified :| s"$what: $set lacks $x"
      Prop.all(
        has(op.forward(as), result, s"forward of $op$as") +:
          values.indices.map { i =>
            has(op.backward(r, as, i), values(i)._1, s"backward of $op$as in $r, argument $i")
          }: _*
      )
    }

  def closed(from: BigInt, to: BigInt): IntervalSet =
    IntervalSet.closed(Rational(from), Rational(to))
  def closed(from: String, to: String): IntervalSet = closed(micros(from), micros(to))
  def point(x: BigInt): IntervalSet = IntervalSet.point(Rational(x))
}
