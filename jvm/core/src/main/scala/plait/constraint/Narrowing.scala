// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.interval.Possible

/** What [[Solver]] found: for each term of the condition what it may be. */
sealed trait Narrowing
object Narrowing {
  final case class Narrowed(values: Term => Possible) extends Narrowing
  final case class Unchanged(values: Term => Possible) extends Narrowing

  /** No assignment makes the condition TRUE. */
  case object Infeasible extends Narrowing
}
