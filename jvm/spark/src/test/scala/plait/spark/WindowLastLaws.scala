// SPDX-License-Identifier: Apache-2.0
// Laws: the last instant of a window is the latest of those that the wall clock shows before its end.
package plait.spark

import java.time.{Instant, LocalDateTime, ZoneId, ZoneOffset}

import plait.spark.plan.WindowLast

/** The oracle is java.time from instants to wall clocks, over all instants of two days in steps, and one
  * microsecond to either side of each. No clock is put twice in them.
  */
class WindowLastLaws extends munit.FunSuite {
  private val second = 1000000L
  private val day = 86400 * second

  private val nights = Seq(
    "Europe/Berlin" -> "2024-10-27T01:00:00Z",
    "Europe/Berlin" -> "2024-03-31T01:00:00Z",
    "America/Los_Angeles" -> "2024-11-03T09:00:00Z",
    "Australia/Lord_Howe" -> "2024-04-06T15:00:00Z",
    "Pacific/Apia" -> "2011-12-30T10:00:00Z",
    "Asia/Kolkata" -> "1969-12-31T18:30:00Z"
  )

  private def micros(at: Instant): Long = at.getEpochSecond * second + at.getNano / 1000

  private def wall(instant: Long, zone: ZoneId): Long = {
    val at = Instant.ofEpochSecond(Math.floorDiv(instant, second))
    instant + zone.getRules.getOffset(at).getTotalSeconds * second
  }

  for ((name, at) <- nights)
    test(s"last(end) = max { instant | wall clock at instant < end }, $name around $at") {
      val zone = ZoneId.of(name)
      val from = micros(Instant.parse(at))
      val step = 600 * second
      val instants = (from - day to from + day by step).flatMap(t => Seq(t - 1, t, t + 1))
      val ends = (wall(from, zone) - day / 4 to wall(from, zone) + day / 4 by step)
      val lasts = ends.map(WindowLast.of(_, zone))
      for ((end, last) <- ends.zip(lasts)) {
        assert(wall(last, zone) < end)
        assert(instants.filter(wall(_, zone) < end).forall(_ <= last))
      }
      assertEquals(lasts, lasts.sorted)
    }

  test("an hour that comes twice ends with the second, one that is left out before it begins") {
    val berlin = ZoneId.of("Europe/Berlin")
    def last(end: String) = {
      val micros = LocalDateTime.parse(end).toEpochSecond(ZoneOffset.UTC) * second
      val instant = WindowLast.of(micros, berlin)
      Instant.ofEpochSecond(Math.floorDiv(instant, second), Math.floorMod(instant, second) * 1000)
    }
    assertEquals(last("2026-03-01T10:05:00"), Instant.parse("2026-03-01T09:04:59.999999Z"))
    assertEquals(last("2024-10-27T02:30:00"), Instant.parse("2024-10-27T01:29:59.999999Z"))
    assertEquals(last("2024-03-31T02:30:00"), Instant.parse("2024-03-31T00:59:59.999999Z"))
  }

  test("the ends of 64 bits are no errors") {
    for (zone <- Seq("America/Los_Angeles", "Asia/Kolkata").map(ZoneId.of)) {
      assert(WindowLast.of(Long.MinValue, zone) < Long.MinValue / 2)
      assert(WindowLast.of(Long.MaxValue, zone) > Long.MaxValue / 2)
    }
  }
}
