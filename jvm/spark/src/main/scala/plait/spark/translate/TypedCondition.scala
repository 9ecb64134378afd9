// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession

import plait.Side
import plait.constraint.Term
import plait.constraint.Term.Variable

/** A condition over columns of Spark's types, as Spark's analyzer resolves it: with its casts, its
  * evaluation modes and the session's time zone.
  *
  * {{{
  * l > r - INTERVAL 8 MINUTES      l, r timestamps      Call(>, l, Call(+, r, -480000000))
  * }}}
  *
  * What is not understood is not narrowed by, and is no error; what Spark refuses is one.
  *
  * @param columns
  *   the columns; one whose type has no order is known to Spark only
  */
final class TypedCondition(
    session: SparkSession,
    parsed: Expression,
    columns: Seq[AttributeReference]
) extends Leaves {
  private val names = columns.map(c => c.exprId -> c).toMap
  private val taken = mutable.Set.empty[String]

  /** The term of a column, if its type has an order. */
  val variables: Map[AttributeReference, Variable] = columns.flatMap { column =>
    OrderedType.domain(column.dataType).map { domain =>
      column -> Variable(fresh((column.qualifier :+ column.name).mkString(".")), Side.Left, domain)
    }
  }.toMap

  val term: Term = {
    val whole = new ConditionTranslation(this)
    whole.term(resolved)
  }

  private def resolved: Expression = {
    val plan = Filter(parsed, LocalRelation(columns))
    val analyzed = session.sessionState.executePlan(plan).analyzed
    val condition = analyzed
      .collectFirst { case Filter(condition, _) => condition }
      .getOrElse(throw new ConditionError("This is no condition on rows."))
    inlined(condition, analyzed)
  }

  /** The analyzer computes `window(t, '10 minutes')` in a projection below the condition. */
  private def inlined(condition: Expression, plan: LogicalPlan): Expression = {
    val computed = plan
      .collect { case Project(list, _) => list.collect { case a: Alias => a.exprId -> a.child } }
      .flatten
      .toMap
    val whole = condition.transform { case a: Attribute => computed.getOrElse(a.exprId, a) }
    whole.transformUp { case GetStructField(struct: CreateNamedStruct, field, _) =>
      struct.valExprs(field)
    }
  }

  override protected def sidesOf(expression: Expression): Set[Side] = Set(Side.Left)

  override def leaf(e: Expression): Option[Variable] = e match {
    case a: AttributeReference => names.get(a.exprId).flatMap(variables.get)
    case _ if e.deterministic && e.references.nonEmpty =>
      OrderedType.domain(e.dataType).map(Variable(fresh(e.sql), Side.Left, _))
    case _ => None
  }

  /** Two variables of one name would be one. */
  private def fresh(name: String): String = {
    val free = Iterator.single(name) ++ Iterator.from(1).map(n => s"$name~$n")
    val found = free.find(!taken(_)).get
    taken += found
    found
  }
}
