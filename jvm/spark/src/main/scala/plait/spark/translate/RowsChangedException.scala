// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.SparkThrowable

/** A side of a join was read twice and had other rows the second time, as where files were added between the
  * two. The rows that it is joined with were chosen by the first.
  */
final class RowsChangedException
    extends IllegalStateException(
      s"[${RowsChangedException.Condition}] The rows of a table changed while a join without an equality read " +
        "them twice. Run the query again, or with the hint NO_SYMMETRIC_HASH on the join."
    )
    with SparkThrowable {
  override def getCondition: String = RowsChangedException.Condition
}

object RowsChangedException {
  val Condition = "ROWS_CHANGED"
}
