// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

import plait.spark.exec.{CodegenBoundaryExec, PairsCodegen}
import plait.{BySide, Side}

/** Between a join that hands its pairs to the generated code above it and an input that is generated code too
  * stands a [[CodegenBoundaryExec]].
  *
  * {{{
  * SymmetricHashJoin                      SymmetricHashJoin
  * :- Filter               ->             :- CodegenBoundary
  * :  +- ColumnarToRow                    :  +- Filter
  * +- Exchange                            :     +- ColumnarToRow
  *                                        +- Exchange
  * }}}
  *
  * Spark does the same for its own joins of two sides as it makes stages of generated code, and knows of
  * no others. Without it one of the two would have to do without: the join, which would make a row of each
  * pair, or its input.
  *
  * It comes before stages of code are made. Where a rule of another extension, run after it, puts a node in whose code is
  * generated, the join makes rows.
  */
object CodegenBoundaries extends ColumnarRule {
  override def postColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override val ruleName: String = CodegenBoundaries.getClass.getName.stripSuffix("$")

    override def apply(plan: SparkPlan): SparkPlan =
      if (!isGenerating) plan
      else
        plan.transformUp {
          case join: PairsCodegen if join.givesPairs =>
            val inputs = BySide.make(side => apart(join.input(side)))
            if (Side.both.forall(side => inputs(side) eq join.input(side))) join
            else join.withNewChildren(Seq(inputs.left, inputs.right))
        }

    private def isGenerating: Boolean =
      conf.wholeStageEnabled &&
        conf.getConf(SQLConf.CODEGEN_FACTORY_MODE) != CodegenObjectFactoryMode.NO_CODEGEN

    private def apart(input: SparkPlan): SparkPlan =
      if (PairsCodegen.isGenerated(input)) CodegenBoundaryExec(input) else input
  }
}
