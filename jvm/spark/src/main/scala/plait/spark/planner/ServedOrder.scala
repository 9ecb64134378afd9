// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Descending,
  Expression,
  SortDirection,
  SortOrder
}

import plait.order.Monotonicity
import plait.spark.translate.{ConditionTranslation, NullOnError}

/** An order that a side has already and that serves for the one that the join wants, because what is
  * wanted never goes back along it.
  *
  * {{{
  * sorted by       wanted                              sort
  * ts ASC          date_trunc('HOUR', ts) ASC          none
  * a DESC          -a ASC                              none
  * ts ASC          id ASC                              by id
  * }}}
  */
final class ServedOrder(translation: ConditionTranslation) {

  /** @param offered the order of the side's rows, most significant first */
  def of(wanted: SortOrder, offered: Seq[SortOrder]): SortOrder =
    offered.headOption.filter(serves(_, wanted)).getOrElse(wanted)

  private def serves(offered: SortOrder, wanted: SortOrder): Boolean = {
    val along = translation.term(offered.child) -> move(offered.direction)
    val found = Monotonicity.of(translation.term(unguarded(wanted.child)), Map(along))
    wanted.direction match {
      case Ascending => found.isNonDecreasing
      case Descending => found.isNonIncreasing
      case _ => false
    }
  }

  private def move(direction: SortDirection): Monotonicity = direction match {
    case Descending => Monotonicity.StrictlyDecreasing
    case _ => Monotonicity.StrictlyIncreasing
  }

  private def unguarded(expression: Expression): Expression = expression match {
    case NullOnError(child) => child
    case other => other
  }
}
