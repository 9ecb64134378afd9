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
  * WHERE, keys of right    right           stays          right     stays
  * WHERE, keys of USING    left            left           right     both
  * ON, left alone          left            stays          left      stays
  * ON, right alone         right           right          stays     stays
  * key or match NULL       both            right          left      stays
  * key = constant          to the other side, where ON may be filtered there
  * match value <= constant the same, if what it is compared with is less
  * }}}
  *
  * The rows of a key go all or stay all, so what is said of keys changes nothing of what is picked.
  *
  * What may throw (`raise_error`, `sequence`) stays, as in Spark's joins: a row that picks nothing is not asked.
  */
object PushThroughAsOfJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case Filter(condition, join: AsOfJoin) =>
      val (above, asked) =
        splitConjunctivePredicates(condition).partitionMap(c => below(c, join).toRight(c))
      val narrowed = join.copy(
        left = filtered(join.left, asked.flatMap(_.left)),
        right = filtered(join.right, asked.flatMap(_.right))
      )
      filtered(narrowed, above)
    case join: AsOfJoin => withoutUseless(pushed(join))
  }

  /** Do only left rows, each at most once, and pairs of them come out? */
  private def isOfLeft(joinType: JoinType): Boolean = joinType match {
    case RightOuter | FullOuter => false
    case _ => true
  }

  /** What of a filter above is asked of each side instead, if it may be. */
  private def below(conjunct: Expression, join: AsOfJoin): Option[BySide[Seq[Expression]]] = {
    def ofKeys(side: Side) = {
      val said = ofSide(conjunct, side, keysOf(join))
      Option.when(isOf(said, BySide(join.left, join.right)(side)))(said)
    }
    join.joinType match {
      case of if isOfLeft(of) && isOf(conjunct, join.left) => Some(BySide(Seq(conjunct), Nil))
      case _: InnerLike | RightOuter if isOfKeys(conjunct, Side.Right, join) =>
        Some(BySide(Nil, Seq(conjunct)))
      case FullOuter =>
        for {
          left <- ofKeys(Side.Left)
          right <- ofKeys(Side.Right)
        } yield BySide(Seq(left), Seq(right))
      case _ => None
    }
  }

  private def isOfKeys(conjunct: Expression, side: Side, join: AsOfJoin): Boolean =
    isOf(conjunct, BySide(join.left, join.right)(side)) &&
      conjunct.references.subsetOf(AttributeSet(keysOf(join).map(_(side))))

  /** With the column of one side where the key of both stands, as USING of a FULL join has it. */
  private def ofSide(conjunct: Expression, side: Side, keys: Seq[BySide[Attribute]]): Expression =
    conjunct.transform { case both @ Coalesce(Seq(a, b)) =>
      keys
        .find(key => key.left.semanticEquals(a) && key.right.semanticEquals(b))
        .fold[Expression](both)(_(side))
    }

  private def keysOf(join: AsOfJoin): Seq[BySide[Attribute]] =
    join.condition.toSeq.flatMap(splitConjunctivePredicates).flatMap(keyColumns(join, _))

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
    val keys = keysOf(join)
    val useful = BySide.make { side =>
      if (!free(side)) Nil
      else
        notNull(Seq(join.best.left, join.best.right)(if (side eq Side.Left) 0 else 1)) ++
          keys.flatMap(k => notNull(k(side))) ++
          inferred(sides(side.other), keys.map(k => k(side.other) -> k(side))) ++
          bounded(join, side)
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

  /** What the filters of one side say of its match values, said of those that they are compared with:
    * `l.ts <= 10:00` of `r.ts`, where `l.ts >= r.ts`.
    */
  private def bounded(join: AsOfJoin, side: Side): Seq[Expression] = {
    val values = BySide(join.best.left, join.best.right)
    (values(side), values(side.other), join.best.compared) match {
      case (own: Attribute, from: Attribute, Some(compared)) if isOneValue(own, from) =>
        val isLess = isLower(compared) == (side eq Side.Right)
        BySide(join.left, join.right)(side.other).constraints.toSeq.collect {
          case EqualTo(a, c: Literal) if a.semanticEquals(from) =>
            if (isLess) LessThanOrEqual(own, c) else GreaterThanOrEqual(own, c)
          case bound @ BinaryComparison(a, c: Literal)
              if a.semanticEquals(from) && (if (isLess) isUpper(bound) else isLower(bound)) =>
            bound.withNewChildren(Seq(own, c))
        }
      case _ => Nil
    }
  }

  private def isUpper(comparison: Expression): Boolean = comparison match {
    case _: LessThanOrEqual | _: LessThan => true
    case _ => false
  }

  private def isLower(comparison: Expression): Boolean = comparison match {
    case _: GreaterThanOrEqual | _: GreaterThan => true
    case _ => false
  }

  private def isOf(conjunct: Expression, side: LogicalPlan): Boolean =
    conjunct.deterministic && !conjunct.throwable && conjunct.references.nonEmpty &&
      conjunct.references.subsetOf(side.outputSet)

  private def filtered(plan: LogicalPlan, conjuncts: Seq[Expression]): LogicalPlan =
    conjuncts.reduceOption(And(_, _)).fold(plan)(Filter(_, plan))
}
