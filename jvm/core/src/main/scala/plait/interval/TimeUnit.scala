// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.time.LocalDate

/** A unit that local times and dates are truncated to: each instant of the local time line is in
  * exactly one, which has a first day or microsecond.
  *
  * {{{
  * Hour       3,600,000,000 microseconds each
  * Week       seven days from Monday: 1970-01-01, a Thursday, is in the week from day -3
  * Quarter    2026-05-17 is in the one from 2026-04-01 to 2026-06-30
  * }}}
  *
  * Days are counted from 1970-01-01, microseconds from its midnight.
  */
sealed abstract class TimeUnit(val name: String) {

  /** The first microsecond of the unit that holds this one. */
  def first(local: Long): Long

  override def toString: String = name
}

object TimeUnit {

  /** Units that all are equally long. */
  sealed abstract class Even(name: String, val micros: Long) extends TimeUnit(name) {
    def first(local: Long): Long = local - Math.floorMod(local, micros)
  }

  case object Microsecond extends Even("MICROSECOND", 1)
  case object Millisecond extends Even("MILLISECOND", 1000)
  case object Second extends Even("SECOND", 1000000)
  case object Minute extends Even("MINUTE", 60 * Second.micros)
  case object Hour extends Even("HOUR", 60 * Minute.micros)
  case object Day extends Even("DAY", 24 * Hour.micros)

  /** Units of whole days. */
  sealed abstract class OfDays(name: String) extends TimeUnit(name) {
    def firstDay(day: Long): Long

    /** The first day of the unit after the one that begins here. */
    def next(firstDay: Long): Long

    def first(local: Long): Long = firstDay(Math.floorDiv(local, Day.micros)) * Day.micros
  }

  case object Week extends OfDays("WEEK") {
    private val monday = -3L
    def firstDay(day: Long): Long = day - Math.floorMod(day - monday, 7L)
    def next(firstDay: Long): Long = firstDay + 7
  }

  sealed abstract class OfMonths(name: String, months: Int) extends OfDays(name) {
    def firstDay(day: Long): Long = {
      val date = LocalDate.ofEpochDay(day)
      val month = date.getMonthValue - 1
      LocalDate.of(date.getYear, month - month % months + 1, 1).toEpochDay
    }
    def next(firstDay: Long): Long = LocalDate.ofEpochDay(firstDay).plusMonths(months).toEpochDay
  }

  case object Month extends OfMonths("MONTH", 1)
  case object Quarter extends OfMonths("QUARTER", 3)
  case object Year extends OfMonths("YEAR", 12)

  val All: Seq[TimeUnit] =
    Seq(Microsecond, Millisecond, Second, Minute, Hour, Day, Week, Month, Quarter, Year)
}
