// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.unsafe.types.CalendarInterval

/** Which windows there are, as half-open stretches [start, end) of the wall clock, in microseconds since
  * 1970-01-01 00:00.
  *
  * {{{
  * Sliding(slide 5, size 10, offset 2)     [-3, 7)  [2, 12)  [7, 17)  ...     12 is in the last two
  * Sliding(slide 10, size 4, offset 0)     [0, 4)  [10, 14)  ...              5 is in none
  * Growing(step 5, size 10, offset 0)      [0, 5)  [0, 10)  [10, 15)  [10, 20)  ...
  * Gapped(3), of the times 1, 4, 9         [1, 7)  [9, 12)                    4 is 3 after 1: no gap
  * }}}
  *
  *   1. Windows of one shape are the same windows whoever wrote them: an offset counts modulo the slide,
  *      TUMBLE is HOP with a slide of its size, and so is CUMULATE with one step.
  *   1. Two times of a session are the gap apart, or less.
  */
sealed abstract class WindowShape extends Product with Serializable {

  /** As it would be written. */
  def sql: String
}

object WindowShape {
  final case class Sliding(slide: Long, size: Long, offset: Long) extends WindowShape {
    override def sql: String = {
      val lengths = if (slide == size) s"TUMBLE(size ${text(size)}" else s"HOP(slide ${text(slide)}"
      val rest = if (slide == size) "" else s", size ${text(size)}"
      s"$lengths$rest${shifted(offset)})"
    }

    /** How many windows a time is in, at most. */
    def overlap: Long = -Math.floorDiv(-size, slide)
  }

  object Sliding {
    def of(slide: Long, size: Long, offset: Long): Sliding =
      Sliding(slide, size, Math.floorMod(offset, slide))
  }

  final case class Growing(step: Long, size: Long, offset: Long) extends WindowShape {
    override def sql: String =
      s"CUMULATE(step ${text(step)}, size ${text(size)}${shifted(offset)})"
  }

  object Growing {
    def of(step: Long, size: Long, offset: Long): WindowShape =
      if (step == size) Sliding.of(size, size, offset)
      else Growing(step, size, Math.floorMod(offset, size))
  }

  final case class Gapped(gap: Long) extends WindowShape {
    override def sql: String = s"SESSION(gap ${text(gap)})"
  }

  /** A length, for people. */
  def text(micros: Long): String = new CalendarInterval(0, 0, micros).toString

  private def shifted(offset: Long): String = if (offset == 0) "" else s", offset ${text(offset)}"
}
