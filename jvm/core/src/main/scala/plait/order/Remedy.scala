// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.Side

/** What would tell how far a stream has come, where nothing does:
  *
  * {{{
  * r.ts, an instant                     Watermark         give the right side a watermark on it
  * r.window_end, CAST(r.ts AS DATE)     WatermarkBelow    on the time that it follows from
  * r.k, a number                        Comparison        compare times that have one
  * }}}
  */
sealed abstract class Remedy extends Product with Serializable {

  /** In words, of the side that comes in no known order. */
  def of(side: Side): String
}

object Remedy {

  /** @param others
    *   the columns on which it has one already
    */
  final case class Watermark(others: Seq[String]) extends Remedy {
    def of(side: Side): String = s"give the ${side.name} side a watermark on it" +
      (if (others.isEmpty) "" else s" (the one that it has is on ${others.mkString(", ")})")
  }

  /** Only instants can have a watermark, and it carries on to what follows from them. */
  case object WatermarkBelow extends Remedy {
    def of(side: Side): String =
      s"give the table of the ${side.name} side a watermark on the time that it follows from"
  }

  case object Comparison extends Remedy {
    def of(side: Side): String =
      "compare times of both sides that have watermarks, as in r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR"
  }
}
