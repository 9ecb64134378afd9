// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.spark.sql.catalyst.trees.Origin

/** Looks at one value of a plan - a node, or what a node holds - and refuses it or lets it pass. A rule does
  * not look at what the value holds in turn: [[PlanWalk]] brings that to it.
  */
private[guard] trait Rule {
  def check(value: Any, at: Origin): Unit

  protected def refuse(code: String, sentence: String, at: Origin): Nothing =
    throw new StatementRefused(code, sentence, at)
}
