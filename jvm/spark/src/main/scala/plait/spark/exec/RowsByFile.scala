// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  InputFileBlockLength,
  InputFileBlockStart,
  InputFileName
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.plait.InputFile

import plait.BySide

/** The rows of one input of a task, told apart by the files that they are read from.
  *
  * Spark knows of one file a task, whichever input has opened it last. So it is told before each pull where this input
  * stood:
  *
  * {{{
  * a join reads a and b in turn, both of files F1 and F2
  *   a: F1   b: F1   a: F1   b: F2   a: F1, told anew   b: F2   a: F2, which is another file than a had
  * }}}
  *
  * What it does not promise: anything of an input that reads ahead, in which rows of one file come out while the next is
  * open.
  *
  * @param onNext
  *   called before the first row of a further file
  */
final private[exec] class RowsByFile(rows: Iterator[InternalRow], onNext: () => Unit)
    extends Iterator[InternalRow] {
  private val file = new InputFile

  override def hasNext: Boolean = {
    file.resume()
    val isThere = rows.hasNext
    look()
    isThere
  }

  override def next(): InternalRow = {
    file.resume()
    val row = rows.next()
    look()
    row
  }

  private def look(): Unit = if (!file.isRead) {
    if (file.isKnown) onNext()
    file.become()
  }
}

private[exec] object RowsByFile {

  /** What a join that reads these inputs in turn takes for their rows: if one asks for its files, each has its own. */
  def inTurn(
      inputs: Seq[SparkPlan]
  ): BySide[Iterator[InternalRow]] => BySide[Iterator[InternalRow]] =
    if (inputs.exists(asksForFiles)) _.map(new RowsByFile(_, () => ())) else identity

  /** Does it compute with the name of a file that it reads in the stage at hand? */
  private def asksForFiles(plan: SparkPlan): Boolean =
    inStage(plan).exists(_.expressions.exists(_.exists {
      case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => true
      case _ => false
    }))

  /** Are its rows those of one input? Of two that are joined no one file is at hand. */
  def isOfOneInput(plan: SparkPlan): Boolean = inStage(plan).count(_.children.isEmpty) <= 1

  /** What runs in one task with it. */
  private def inStage(plan: SparkPlan): Seq[SparkPlan] = plan match {
    case _: Exchange | _: QueryStageExec => Nil
    case other => other +: other.children.flatMap(inStage)
  }
}
