// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.util.quoteIfNeeded
import org.apache.spark.sql.execution.streaming.state.StateStoreValueSchemaNotCompatible
import org.apache.spark.sql.types.{ArrayType, StructField, StructType}

import plait.Side

/** Says which columns of a join have another type than in its checkpoint, where Spark has found that the rows that wait
  * cannot be read:
  *
  * {{{
  * v INT when the checkpoint was made, v BIGINT now      left v was INT and is BIGINT
  * }}}
  */
object ChangedTypes {

  /** @param stored
    *   what the values in the state were when it was made
    */
  def told[A](stored: => StructType, now: StructType)(check: => A): A =
    try check
    catch {
      case error: StateStoreValueSchemaNotCompatible =>
        val told = new StateFormatException(sentence(stored, now))
        told.initCause(error)
        throw told
    }

  private def sentence(stored: StructType, now: StructType): String = {
    val changed = for {
      side <- Side.both
      (was, is) <- columns(stored, side).zip(columns(now, side))
      if was.dataType != is.dataType
    } yield s"${side.name} ${quoteIfNeeded(is.name)} was ${was.dataType.sql} and is ${is.dataType.sql}"
    s"Columns of this join have other types than when its checkpoint was made: ${changed.mkString(", ")}. Rows that wait " +
      "cannot be read as the new ones. Cast them to what they were, below the join; or start with a new checkpoint."
  }

  private def columns(values: StructType, side: Side): Seq[StructField] =
    values(side.name).dataType match {
      case ArrayType(row: StructType, _) => row.fields.toSeq
      case _ => Nil
    }
}
