// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import org.apache.spark.sql.catalyst.analysis.{
  ExpressionWithUnresolvedIdentifier,
  PlanWithUnresolvedIdentifier
}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.types.StringType

/** `IDENTIFIER(...)` of a text or a parameter stands for the name that it holds, which is looked at as any
  * other; of anything else it is refused, for the analysis alone would know the name.
  *
  * {{{
  * FROM IDENTIFIER('csv.`/etc`')        a name of files
  * FROM IDENTIFIER(:table)              the name that the parameter holds
  * FROM IDENTIFIER(v || '.t')           refused
  * }}}
  *
  * @param again
  *   looks at what stands for the name
  */
final private[guard] class NameRule(again: TreeNode[_] => Unit) extends Rule {

  override def check(value: Any, at: Origin): Unit = value match {
    case plan: PlanWithUnresolvedIdentifier =>
      again(plan.planBuilder(nameOf(plan.identifierExpr, at), plan.children))
    case expression: ExpressionWithUnresolvedIdentifier =>
      val name = nameOf(expression.identifierExpr, at)
      again(expression.exprBuilder(name, expression.otherExprs))
    case _ =>
  }

  private def nameOf(expression: Expression, at: Origin): Seq[String] = expression match {
    case NameRule.Told(name) => name
    case _ =>
      refuse(
        StatementRefused.Name,
        s"IDENTIFIER takes a text or a parameter that holds one, not ${expression.sql}.",
        at
      )
  }
}

private[guard] object NameRule {

  /** The plan with tables, views and databases by the names that they are told by, so that who looks for a
    * statement's target finds it: `DROP TABLE IDENTIFIER('n')` is `DROP TABLE n`. Spark's analysis begins
    * with the same step.
    */
  def written(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case PlanWithUnresolvedIdentifier(Told(name), children, build) => build(name, children)
  }

  private object Told {
    def unapply(expression: Expression): Option[Seq[String]] = expression match {
      case Literal(text, _: StringType) if text != null =>
        Some(CatalystSqlParser.parseMultipartIdentifier(text.toString))
      case _ => None
    }
  }
}
