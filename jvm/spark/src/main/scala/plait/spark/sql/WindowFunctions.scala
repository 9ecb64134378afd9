// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

import plait.spark.plan.WindowFunction

/** The words that may begin a window function. */
object WindowFunctions {
  val Names: Seq[String] = WindowFunction.All.map(_.name)

  def isName(word: String): Boolean = WindowFunction.named(word).isDefined
}
