// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Predicate}
import org.apache.spark.sql.plait.TaskEnd

import plait.spark.translate.InstantSum

/** A condition as Spark's generated code, in a task: whether it is TRUE of a row. */
object CompiledCondition {
  def of(condition: Expression, input: Seq[Attribute], partition: Int): InternalRow => Boolean = {
    val generated = Predicate.create(InstantSum.in(condition), input)
    generated.initialize(partition)
    generated.eval
  }

  /** The same of pairs. A row may meet many that the condition rejects, and nothing else asks meanwhile whether the
    * task was killed.
    */
  def stoppable(
      condition: Expression,
      input: Seq[Attribute],
      context: TaskContext
  ): InternalRow => Boolean = {
    val holds = of(condition, input, context.partitionId())
    val stop = TaskEnd.nowAndThen(context)
    pair => {
      stop()
      holds(pair)
    }
  }
}
