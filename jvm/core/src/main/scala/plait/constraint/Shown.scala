// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import java.time.{Duration, Instant, LocalDate, Period, ZoneOffset}

import scala.util.Try

import plait.interval.Bound.Unbounded
import plait.interval.Interval.Span
import plait.interval.{Bound, Domain, Possible, Rational}

/** What a term may be, as people write it.
  *
  * {{{
  * timestamp   [1767270840000000, 1767270840000001]      [2026-01-01T12:34:00Z, 2026-01-01T12:34:00.000001Z]
  * interval    [-480000000, -480000000]                  {PT-8M}
  * boolean     [0, 1] or NULL                            TRUE, FALSE or NULL
  * bigint      [-9223372036854775808, 17] or NULL        (-inf, 17] or NULL
  * }}}
  *
  * An end that only says what the type can hold is left out. What has no such form is its number.
  */
object Shown {
  def apply(possible: Possible, domain: Domain): String =
    if (possible.isNothing) "nothing" else parts(possible, domain).mkString(" or ")

  private def parts(possible: Possible, domain: Domain): Seq[String] = {
    val truths = Seq(Rational.One -> "TRUE", Rational.Zero -> "FALSE")
    val values =
      if (domain eq Domain.Boolean) truths.collect { case (x, t) if possible.contains(x) => t }
      else
        possible.values.spans.map(span(_, domain)).mkString(" ∪ ") match {
          case "" => Nil
          case some => Seq(some)
        }
    values ++ possible.specials.names
  }

  private def span(span: Span[Rational], domain: Domain): String = {
    val shown = Span(within(span.lower, domain), within(span.upper, domain))
    if (span.lower.isBounded && span.lower == span.upper)
      s"{${number(Bound.at(span.lower), domain)}}"
    else
      Span(shown.lower.map(number(_, domain)), shown.upper.map(number(_, domain))).toString
  }

  /** An infinite double is a value, and stays; the least long is where longs end. */
  private def within(end: Bound[Rational], domain: Domain): Bound[Rational] = domain match {
    case whole: Domain.Whole if end.isBounded =>
      val all = whole.everything
      if (end == all.lower || end == all.upper) Unbounded else end
    case _ => end
  }

  private def number(x: Rational, domain: Domain): String = domain match {
    case floating: Domain.Floating => floating.exactly(floating.nearest(x)).toString
    case _ if x.isWhole => Try(written(x, domain)).getOrElse(x.toString)
    case _ => x.toString
  }

  private def written(x: Rational, domain: Domain): String = {
    val n = BigInt(x.toString).bigInteger.longValueExact
    domain match {
      case Domain.Timestamp => instant(n).toString
      case Domain.TimestampNtz => instant(n).atOffset(ZoneOffset.UTC).toLocalDateTime.toString
      case Domain.Date => LocalDate.ofEpochDay(n).toString
      case Domain.DayTimeInterval => Duration.of(n, java.time.temporal.ChronoUnit.MICROS).toString
      case Domain.YearMonthInterval => Period.ofMonths(n.toInt).normalized.toString
      case _ => x.toString
    }
  }

  private def instant(micros: Long): Instant =
    Instant.EPOCH.plus(micros, java.time.temporal.ChronoUnit.MICROS)
}
