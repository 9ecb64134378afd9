// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GeneratePredicate
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSeq,
  BasePredicate,
  BindReferences,
  CodeGeneratorWithInterpretedFallback,
  Expression
}

import plait.spark.translate.InstantSum

/** A condition as Spark's generated code, in a task: whether it is TRUE of a row. Its parts are evaluated one after the
  * other as they are written, as in the code of Spark's own joins:
  *
  * {{{
  * q = 0 OR (x / q > 1 AND x / q < 5)      of q = 0 nothing is divided
  * }}}
  *
  * `Predicate.create` computes what occurs twice beforehand, and takes sums of doubles for one that only differ in their
  * brackets.
  */
object CompiledCondition {
  def of(condition: Expression, input: Seq[Attribute], partition: Int): InternalRow => Boolean = {
    val bound =
      BindReferences.bindReference(InstantSum.in(condition), new AttributeSeq(input))
    val generated = AsWritten.createObject(bound)
    generated.initialize(partition)
    generated.eval
  }

  private object AsWritten extends CodeGeneratorWithInterpretedFallback[Expression, BasePredicate] {
    override protected def createCodeGeneratedObject(condition: Expression): BasePredicate =
      GeneratePredicate.generate(condition, useSubexprElimination = false)

    override protected def createInterpretedObject(condition: Expression): BasePredicate =
      new BasePredicate {
        override def initialize(partition: Int): Unit = initializeExprs(Seq(condition), partition)
        override def eval(row: InternalRow): Boolean = condition.eval(row) == true
      }
  }
}
