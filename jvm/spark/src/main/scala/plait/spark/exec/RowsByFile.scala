// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.plait.InputFile

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
  private var file: InputFile = _

  override def hasNext: Boolean = {
    resume()
    val isThere = rows.hasNext
    look()
    isThere
  }

  override def next(): InternalRow = {
    resume()
    val row = rows.next()
    look()
    row
  }

  private def resume(): Unit = if (file != null) file.resume()

  private def look(): Unit = if (file == null || !InputFile.is(file)) {
    if (file != null) onNext()
    file = InputFile.now
  }
}
