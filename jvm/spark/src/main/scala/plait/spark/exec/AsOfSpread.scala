// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import plait.order.WhyNot

/** How the rows of an as-of join are spread over tasks. */
sealed trait AsOfSpread {

  /** What EXPLAIN says of it, where it says something. */
  def text: Option[String]
}

object AsOfSpread {

  /** Both sides are dealt by key. */
  case object ByKey extends AsOfSpread {
    override def text: Option[String] = None
  }

  /** Without a key: the line of match values is cut, and the rows of a range go to the partition of its
    * number.
    */
  final case class InRanges(ranges: Int) extends AsOfSpread {
    override def text: Option[String] = Some(s"in $ranges ranges")
  }

  /** Without a key, and it cannot be cut. */
  final case class InOneTask(why: WhyNot) extends AsOfSpread {
    override def text: Option[String] = Some(s"in one task: $why")
  }
}
