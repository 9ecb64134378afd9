// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{And, EqualTo, Expression}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.plait.FloatingKeys

import plait.BySide
import plait.spark.plan.AsOfJoin

/** The condition of an as-of join taken apart: the equalities that can be hashed, and the rest.
  *
  * {{{
  * l.k = r.k AND l.v < r.v          keys (l.k), (r.k)        rest l.v < r.v
  * l.v < r.v                        keys (), ()              rest l.v < r.v
  * }}}
  */
final case class AsOfKeys(keys: BySide[Seq[Expression]], rest: Option[Expression])

object AsOfKeys {
  def of(join: AsOfJoin): AsOfKeys = {
    val apart = JoinToPlan.of(Join(join.left, join.right, Inner, join.condition, JoinHint.NONE))
    val (keys, compared) = apart.keys.left.zip(apart.keys.right).partition { case (key, _) =>
      UnsafeRowUtils.isBinaryStable(key.dataType)
    }
    val rest = compared.map { case (l, r) => EqualTo(l, r) } ++ apart.residual
    AsOfKeys(
      BySide(
        keys.map { case (key, _) => FloatingKeys.normalized(key) },
        keys.map { case (_, key) => FloatingKeys.normalized(key) }
      ),
      rest.reduceOption(And(_, _))
    )
  }
}
