// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

/** Whether both sides of a join are known to come in the sequence in which Spark sorts their keys, before a row is read. */
sealed trait KeySequence

object KeySequence {
  case object Known extends KeySequence

  /** They may come so all the same. */
  case object Unknown extends KeySequence
}
