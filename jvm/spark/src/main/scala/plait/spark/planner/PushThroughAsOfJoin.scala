// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.{ArrayType, DoubleType, FloatType, StructType}

import plait.spark.plan.AsOfJoin
import plait.{BySide, Side}

/** Filters rows before an as-of join as far as that changes nothing:
  *
  * {{{
  *                         INNER, SEMI     LEFT, ANTI     RIGHT     FULL
  * WHERE, left alone       left            left           stays     stays
  * WHERE, right alone      stays: it would change what is picked
  * ON, left alone          left            stays          left      stays
  * ON, right alone         right           right          stays     stays
  * key or match NULL       both            right          left      stays
  * key = constant          to the other side, where ON may be filtered there
  * }}}
  *
  * What may throw (`raise_error`, `sequence`) stays, as in Spark's joins: a row that picks nothing is not asked.
  */
object PushThroughAsOfJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case Filter(condition, join: AsOfJoin) if isOfLeft(join.joinType) =>
      val (below, above) = splitConjunctivePredicates(condition).partition(isOf(_, join.left))
      filtered(join.copy(left = filtered(join.left, below)), above)
    case join: AsOfJoin => withoutUseless(pushed(join))
  }

  /** Do only left rows, each at most once, and pairs of them come out? */
  private def isOfLeft(joinType: JoinType): Boolean = joinType match {
    case RightOuter | FullOuter => false
    case _ => true
  }

  private def pushed(join: AsOfJoin): AsOfJoin = {
    val free = AsOfJoin.isFree(join.joinType)
    val conjuncts = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    val (ofLeft, others) = conjuncts.partition(c => free.left && isOf(c, join.left))
    val (ofRight, stay) = others.partition(c => free.right && isOf(c, join.right))
    if (ofLeft.isEmpty && ofRight.isEmpty) join
    else
      join.copy(
        left = filtered(join.left, ofLeft),
        right = filtered(join.right, ofRight),
        condition = stay.reduceOption(And(_, _))
      )
  }

  /** Leaves out rows that cannot match, by what is known of the keys of the other side. */
  private def withoutUseless(join: AsOfJoin): AsOfJoin = {
    val free = AsOfJoin.isFree(join.joinType)
    val sides = BySide(join.left, join.right)
    val keys = join.condition.toSeq.flatMap(splitConjunctivePredicates).flatMap(keyColumns(join, _))
    val useful = BySide.make { side =>
      if (!free(side)) Nil
      else
        notNull(Seq(join.best.left, join.best.right)(if (side eq Side.Left) 0 else 1)) ++
          keys.flatMap(k => notNull(k(side))) ++
          inferred(sides(side.other), keys.map(k => k(side.other) -> k(side)))
    }
    val missing = BySide.make { side =>
      val known = sides(side).constraints
      useful(side).distinct.filterNot(known.contains)
    }
    if (missing.left.isEmpty && missing.right.isEmpty) join
    else
      join.copy(
        left = filtered(join.left, missing.left),
        right = filtered(join.right, missing.right)
      )
  }

  private def notNull(value: Expression): Seq[Expression] =
    value.references.toSeq match {
      case Seq(column) if value.semanticEquals(column) && column.nullable => Seq(IsNotNull(value))
      case _ => Nil
    }

  /** A column of each side that an equality of the condition compares. */
  private def keyColumns(join: AsOfJoin, conjunct: Expression): Option[BySide[Attribute]] =
    conjunct match {
      case EqualTo(a: Attribute, b: Attribute) if isOneValue(a, b) =>
        if (join.left.outputSet.contains(a) && join.right.outputSet.contains(b)) Some(BySide(a, b))
        else if (join.left.outputSet.contains(b) && join.right.outputSet.contains(a))
          Some(BySide(b, a))
        else None
      case _ => None
    }

  /** Is what is equal the same, so that what is said of one is true of the other? Not 0.0 and -0.0, nor
    * texts by a collation.
    */
  private def isOneValue(a: Attribute, b: Attribute): Boolean = a.dataType match {
    case FloatType | DoubleType | _: StructType | _: ArrayType => false
    case of => of == b.dataType && UnsafeRowUtils.isBinaryStable(of)
  }

  /** What the filters of one side say of its keys, said of the other's. */
  private def inferred(from: LogicalPlan, keys: Seq[(Attribute, Attribute)]): Seq[Expression] = {
    val other = AttributeMap(keys)
    from.constraints.toSeq
      .filter(c => c.deterministic && c.references.nonEmpty && c.references.forall(other.contains))
      .map(_.transform { case column: Attribute => other.getOrElse(column, column) })
  }

  private def isOf(conjunct: Expression, side: LogicalPlan): Boolean =
    conjunct.deterministic && !conjunct.throwable && conjunct.references.nonEmpty &&
      conjunct.references.subsetOf(side.outputSet)

  private def filtered(plan: LogicalPlan, conjuncts: Seq[Expression]): LogicalPlan =
    conjuncts.reduceOption(And(_, _)).fold(plan)(Filter(_, plan))
}
