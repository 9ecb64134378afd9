// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import plait.BySide

/** The conditions of an as-of join; None is always TRUE.
  *
  * {{{
  * l.ts >= r.ts TOLERANCE 5, ON l.k = r.k AND r.ok AND l.x < r.y
  *     ofLeft none            ofRight r.ok           isWithin r.ts >= l.ts - 5          accepts l.x < r.y
  * }}}
  *
  * @tparam C
  *   a condition of one row
  * @tparam P
  *   a condition of a pair
  * @param ofLeft
  *   of a left row alone, so that a row for which it is not TRUE picks nothing
  * @param ofRight
  *   of a right row alone, so that a row for which it is not TRUE is no candidate at all
  * @param isWithin
  *   of a pair, as the rest: whether it is near enough
  * @param accepts
  *   before the best is chosen
  * @param holds
  *   of the pair that was chosen
  */
final case class PairConditions[C, P](
    ofLeft: Option[C],
    ofRight: Option[C],
    isWithin: Option[P],
    accepts: Option[P],
    holds: Option[P]
)

object PairConditions extends PredicateHelper {
  type Expressions = PairConditions[Expression, Expression]
  type Tests = PairConditions[InternalRow => Boolean, PairTest]

  def of(
      on: Option[Expression],
      within: Option[Expression],
      check: Option[Expression],
      sides: BySide[AttributeSet]
  ): Expressions = {
    val (ofLeft, others) =
      on.toSeq.flatMap(splitConjunctivePredicates).partition(_.references.subsetOf(sides.left))
    val (ofRight, ofPair) = others.partition(_.references.subsetOf(sides.right))
    PairConditions(
      ofLeft.reduceOption(And(_, _)),
      ofRight.reduceOption(And(_, _)),
      within,
      ofPair.reduceOption(And(_, _)),
      check
    )
  }

  def compiled(
      conditions: Expressions,
      outputs: BySide[Seq[Attribute]],
      context: TaskContext
  ): Tests = {
    def ofPair(condition: Expression) = PairTest.of(condition, outputs, context.partitionId())
    PairConditions(
      conditions.ofLeft.map(CompiledCondition.of(_, outputs.left, context.partitionId())),
      conditions.ofRight.map(CompiledCondition.of(_, outputs.right, context.partitionId())),
      conditions.isWithin.map(ofPair),
      conditions.accepts.map(it => PairTest.stoppable(Some(it), outputs, context)),
      conditions.holds.map(ofPair)
    )
  }
}
