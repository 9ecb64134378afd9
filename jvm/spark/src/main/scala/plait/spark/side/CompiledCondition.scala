// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Predicate}

import plait.spark.translate.InstantSum

/** A condition as Spark's generated code, in a task: whether it is TRUE of a row. */
object CompiledCondition {
  def of(condition: Expression, input: Seq[Attribute], partition: Int): InternalRow => Boolean = {
    val generated = Predicate.create(InstantSum.in(condition), input)
    generated.initialize(partition)
    generated.eval
  }
}
