// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

/** What the hints are called that say something of a relation's rows. */
object HintNames {
  val Ordered = "ORDERED"
  val Versions: Set[String] = Set("VERSIONED", "VERSION_KEY", "VERSION_DELETED")
}
