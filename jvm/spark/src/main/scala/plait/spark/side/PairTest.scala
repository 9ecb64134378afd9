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
import org.apache.spark.sql.plait.TaskWatch

import plait.BySide
import plait.spark.translate.QuickSums

/** Whether a condition is TRUE of a pair of rows.
  *
  * {{{
  * l.s >= r.s - 5        of (l.s 3, r.s 8) TRUE        of (l.s 2, r.s 8) not        of (l.s NULL, r.s 8) not
  * }}}
  *
  * Parts that stand beside each other are evaluated one after the other as they are written, as those of a
  * [[CompiledCondition]].
  */
abstract class PairTest {
  def isTrueOf(left: UnsafeRow, right: UnsafeRow): Boolean

  /** Of the left rows in the places at `from`, `from + 1`, ... the first that makes it TRUE.
    *
    * @return
    *   where its place stands, or `until`
    */
  def firstLeft(
      lefts: Array[UnsafeRow],
      right: UnsafeRow,
      places: Array[Int],
      from: Int,
      until: Int
  ): Int = {
    var at = from
    // Invariant: it is not TRUE of those before `at`.
    while (at < until && !isTrueOf(lefts(places(at)), right)) at += 1
    at
  }

  /** Its mirror. */
  def firstRight(
      left: UnsafeRow,
      rights: Array[UnsafeRow],
      places: Array[Int],
      from: Int,
      until: Int
  ): Int = {
    var at = from
    // Invariant: it is not TRUE of those before `at`.
    while (at < until && !isTrueOf(left, rights(places(at)))) at += 1
    at
  }

  /** The same of right rows that stand at `from`, `from + 1`, ... themselves. Of many at once nothing may ask meanwhile
    * whether the task was killed.
    */
  def firstOf(left: UnsafeRow, rights: Array[UnsafeRow], from: Int, until: Int): Int = {
    var at = from
    // Invariant: it is not TRUE of those before `at`.
    while (at < until && !isTrueOf(left, rights(at))) at += 1
    at
  }
}

object PairTest {

  /** Of every pair. */
  object Always extends PairTest {
    override def isTrueOf(left: UnsafeRow, right: UnsafeRow): Boolean = true
  }

  def of(condition: Expression, sides: BySide[Seq[Attribute]], partition: Int): PairTest =
    ofCondition(condition, sides, partition, TaskWatch.never)

  /** In a task that may be killed: a row may meet many that the condition rejects, and nothing else asks meanwhile. Who tests
    * many places at once asks for itself.
    *
    * @param condition
    *   None is TRUE of every pair
    */
  def stoppable(
      condition: Option[Expression],
      sides: BySide[Seq[Attribute]],
      context: TaskContext
  ): PairTest = condition.fold[PairTest](Always)(
    ofCondition(_, sides, context.partitionId(), TaskWatch.of(context))
  )

  private def ofCondition(
      condition: Expression,
      sides: BySide[Seq[Attribute]],
      partition: Int,
      watch: TaskWatch
  ): PairTest = {
    val input = new AttributeSeq(sides.left ++ sides.right)
    val bound = BindReferences.bindReference(QuickSums.in(condition), input)
    val test = OfCondition.createObject(Bound(bound, sides.left.size))
    test.initialize(partition)
    test.watch = watch
    test
  }

  /** @param columns
    *   how many the left row has: the first of both
    */
  final private[side] case class Bound(condition: Expression, columns: Int)

  /** One that is not of every pair. */
  abstract private[side] class OfCondition extends PairTest {
    private[PairTest] var watch: TaskWatch = _

    /** Comes first: of expressions that differ from one partition to the next. */
    def initialize(partition: Int): Unit

    /** Comes before each pair. */
    final protected def beginTest(): Unit = watch.saw(1)
  }

  /** One that has the two rows at hand. */
  abstract private[side] class Held extends OfCondition {
    private val joined = new JoinedRow
    private var ofLeft: UnsafeRow = _
    private var ofRight: UnsafeRow = _

    final def left: UnsafeRow = ofLeft
    final def right: UnsafeRow = ofRight

    /** Both as one. */
    final def pair: InternalRow = joined(ofLeft, ofRight)

    final override def isTrueOf(left: UnsafeRow, right: UnsafeRow): Boolean = {
      // Mostly the same objects; to write a reference costs a barrier of the collector's.
      if (ofLeft ne left) ofLeft = left
      if (ofRight ne right) ofRight = right
      beginTest()
      isTrue
    }

    def isTrue: Boolean
  }

  private object OfCondition extends CodeGeneratorWithInterpretedFallback[Bound, OfCondition] {
    override protected def createCodeGeneratedObject(in: Bound): OfCondition =
      GeneratePairTest.generate(in)

    override protected def createInterpretedObject(in: Bound): OfCondition =
      new Held with ExpressionsEvaluator {
        override def initialize(partition: Int): Unit =
          initializeExprs(Seq(in.condition), partition)
        override def isTrue: Boolean = in.condition.eval(pair) == true
      }
  }
}
