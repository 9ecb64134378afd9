// SPDX-License-Identifier: Apache-2.0
package plait.spark.sql

/** The table functions that add windows to the rows of a table. */
object WindowFunctions {
  val Names: Seq[String] = Seq("TUMBLE", "HOP", "CUMULATE", "SESSION")

  def isName(word: String): Boolean = Names.exists(_.equalsIgnoreCase(word))
}
