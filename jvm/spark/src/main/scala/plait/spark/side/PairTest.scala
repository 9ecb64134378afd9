// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSeq,
  BindReferences,
  CodeGeneratorWithInterpretedFallback,
  Expression,
  ExpressionsEvaluator,
  JoinedRow,
  UnsafeRow
}
import org.apache.spark.sql.plait.TaskEnd

import plait.BySide
import plait.spark.translate.InstantSum

/** Whether a condition is TRUE of a pair of rows, as Spark's generated code, in a task. Columns are read off the row in
  * which they lie:
  *
  * {{{
  * l.s >= r.s - 5        left().getLong(1) >= right().getLong(1) - 5
  * }}}
  *
  * Its parts are evaluated one after the other as they are written, as those of a [[CompiledCondition]].
  */
abstract class PairTest {
  private val joined = new JoinedRow
  private var ofLeft: UnsafeRow = _
  private var ofRight: UnsafeRow = _
  private var stopIfKilled: () => Unit = () => ()
  private var calls = 0

  final def left: UnsafeRow = ofLeft
  final def right: UnsafeRow = ofRight

  final def isTrueOf(left: UnsafeRow, right: UnsafeRow): Boolean = {
    // Mostly the same objects; to write a reference costs a barrier of the collector's.
    if (ofLeft ne left) ofLeft = left
    if (ofRight ne right) ofRight = right
    calls += 1
    if ((calls & PairTest.Between) == 0) stopIfKilled()
    isTrue()
  }

  /** Both rows as one. */
  final protected def pair(): InternalRow = joined(ofLeft, ofRight)

  /** Of [[left]] and [[right]]. */
  protected def isTrue(): Boolean
}

object PairTest {

  /** All bits of how many calls do not ask if the task was killed. */
  final private val Between = 1023

  def of(condition: Expression, sides: BySide[Seq[Attribute]], partition: Int): PairTest = {
    val input = new AttributeSeq(sides.left ++ sides.right)
    val bound = BindReferences.bindReference(InstantSum.in(condition), input)
    Compiled.createObject(Bound(bound, sides.left.size, partition))
  }

  /** The same in a task that may be killed: a row may meet many that the condition rejects, and nothing else asks
    * meanwhile.
    */
  def stoppable(
      condition: Expression,
      sides: BySide[Seq[Attribute]],
      context: TaskContext
  ): PairTest = {
    val test = of(condition, sides, context.partitionId())
    test.stopIfKilled = () => TaskEnd.throwIfKilled(context)
    test
  }

  /** @param columns
    *   how many the left row has: the first of both
    */
  final private[side] case class Bound(condition: Expression, columns: Int, partition: Int)

  /** TRUE of every pair. */
  object Always extends PairTest {
    override protected def isTrue(): Boolean = true
  }

  private object Compiled extends CodeGeneratorWithInterpretedFallback[Bound, PairTest] {
    override protected def createCodeGeneratedObject(in: Bound): PairTest =
      GeneratePairTest.generate(in)
    override protected def createInterpretedObject(in: Bound): PairTest = new Interpreted(in)
  }

  final private class Interpreted(in: Bound) extends PairTest with ExpressionsEvaluator {
    initializeExprs(Seq(in.condition), in.partition)
    override protected def isTrue(): Boolean = in.condition.eval(pair()) == true
  }
}
