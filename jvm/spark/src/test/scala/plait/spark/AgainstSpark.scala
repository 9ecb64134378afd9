// SPDX-License-Identifier: Apache-2.0
// The laws of what the solver says of an expression, against Spark's own evaluation of it.
package plait.spark

import scala.util.{Failure, Random, Success, Try}

import munit.Assertions
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.types._

import plait.BySide
import plait.constraint.{Narrowing, Solver, Term}
import plait.interval.{Domain, IntervalSet, Possible}
import plait.order.{Direction, SolvedReach}
import plait.spark.planner.JoinCondition
import plait.spark.translate._

/** For each random expression `e` over four columns and each random row `x`:
  *
  *   - forward: with every column known to lie in a box around its value, `e(x)` is in what the
  *     sweeps say of `e`;
  *   - reach: for a boolean `e` that is TRUE of `x`, each column is in the solved reach of the other
  *     side's row;
  *   - backward: for a boolean `e` that is TRUE of `x`, `x` is inside the narrowed boxes.
  *
  * `e(x)` is what Spark's `eval` and its generated code give; where they raise an error there is
  * nothing to hold.
  */
final class AgainstSpark(random: Random) extends Assertions {
  import AgainstSpark._
  private val values = new RandomValues(random)

  /** How many rows made a condition TRUE, of all that were checked. */
  var satisfied = 0

  /** Of how many conditions the cases end a reach. */
  var ended = 0

  /** How often there was a value that the laws could be asked of. */
  def check(expression: Expression, columns: Seq[AttributeReference], rows: Int = 40): Int = {
    val (l, r) = columns.splitAt(2)
    val linear = new TermTranslation(BySide(AttributeSet(l), AttributeSet(r)))
    val translation = new ConditionTranslation(linear)
    val term = translation.term(expression)
    val solver = new Solver(term)
    val bound = BindReferences.bindReference(expression, columns)
    val project = GenerateUnsafeProjection.generate(Seq(bound))
    val reaches = reachesOf(expression, columns)
    var held = 0
    for (_ <- 1 to rows) {
      val row = columns.map(c => values.of(c.dataType))
      val input = InternalRow.fromSeq(row)
      val evaluated = Try(bound.eval(input))
      val compiled = Try(project(input)).map(_.get(0, expression.dataType))
      (evaluated, compiled) match {
        case (Success(a), Success(b)) =>
          assert(
            isSame(a, b) || expression.exists(isTriedDate),
            s"eval $a, code $b: $expression of $row"
          )
        case (Success(a), Failure(e)) => fail(s"eval $a, code $e: $expression of $row")
        case _ => ()
      }
      // Where eval fails and the code gives a value, it is the code that a query runs.
      (evaluated.toOption.toSeq ++ compiled.toOption).distinct.foreach { value =>
        val boxes = columns.zip(row).flatMap { case (column, x) =>
          linear.leaf(column).map(_ -> boxAround(x, column.dataType))
        }
        val state = solver.initial
        for ((variable, box) <- boxes if solver.nodes.contains(variable))
          state(solver.index(variable)) = state(solver.index(variable)).intersect(box)
        val forward = solver.forward(state)
        assert(
          isIn(value, expression.dataType, forward),
          s"$value not in $forward: $expression of $row in $boxes"
        )
        held += 1
        if (expression.dataType == BooleanType && value == true) {
          satisfied += 1
          reaches.foreach(_.holds(input, s"$expression of $row"))
          def told = s"$expression of $row:\n" +
            solver.traced(boxes.map { case (v, p) => (v: Term) -> p }: _*)._2.text
          solver.solve(boxes.map { case (v, p) => (v: Term) -> p }) match {
            case Narrowing.Infeasible => fail(s"not infeasible: $told")
            case Narrowing.Narrowed(values) => inside(values, columns, row, linear, told)
            case Narrowing.Unchanged(values) => inside(values, columns, row, linear, told)
          }
        }
      }
    }
    held
  }

  private def isSame(a: Any, b: Any): Boolean =
    a == b || java.util.Objects.equals(a, b) || sameNumber(a, b)

  /** The reach of a row in a column of the other side, solved or by cases. */
  final private class ReachInColumn(
      reach: SolvedReach,
      ends: (Expression, Expression),
      rank: Expression
  ) {
    private val mayMatchNull = reach.mayMatchNull
    def holds(pair: InternalRow, told: => String): Unit = {
      val (low, high) = (ends._1.eval(pair), ends._2.eval(pair))
      val at = rank.eval(pair)
      assert(low != null && high != null, s"${reach.order} is in no reach: $told")
      if (at == null) assert(mayMatchNull, s"${reach.order} is NULL and matches: $told")
      else {
        val place = at.asInstanceOf[Long]
        assert(
          low.asInstanceOf[Long] <= place && place <= high.asInstanceOf[Long],
          s"${reach.order} at $place, not in [$low, $high]: $told"
        )
      }
    }
  }

  private def reachesOf(
      expression: Expression,
      columns: Seq[AttributeReference]
  ): Seq[ReachInColumn] = {
    val column = columns(random.nextInt(columns.size))
    val (l, r) = columns.splitAt(2)
    val condition = new JoinCondition(expression, BySide(LocalRelation(l), LocalRelation(r)))
    val whole = condition.whole
    val same = whole.term(expression)
    val asked = condition.translation
      .leaf(column)
      .filter(v => same.holds(v) && !v.domain.eq(Domain.Boolean))
    asked.toSeq.flatMap { v =>
      val own = whole.oneSided(same, v.side.other).toIndexedSeq
      val reach = new SolvedReach(same, v.side.other, whole.term(column), own)
      def bound(e: Expression) = {
        assert(!e.references.contains(column), s"the reach in $column asks for it: $expression")
        BindReferences.bindReference(e, columns)
      }
      def within(low: Expression, high: Expression) =
        new ReachInColumn(reach, (bound(low), bound(high)), rank(column, columns))
      val cases = condition.byCases(reach, Nil)
      if (Direction.both.exists(cases.follows)) ended += 1
      val byCases =
        Option.when(cases.reach.cases.nonEmpty)(within(cases.low, cases.high))
      (within _).tupled(SolvedReachValue.ends(reach, whole)) +: byCases.toSeq
    }
  }

  private def rank(column: AttributeReference, in: Seq[AttributeReference]) =
    BindReferences.bindReference(OrderValue(column): Expression, in)

  private def inside(
      values: Term => Possible,
      columns: Seq[AttributeReference],
      row: Seq[Any],
      linear: TermTranslation,
      told: => String
  ): Unit =
    for ((column, x) <- columns.zip(row); variable <- linear.leaf(column))
      assert(
        isIn(x, column.dataType, values(variable)),
        s"$column = $x not in ${values(variable)}: $told"
      )

  private def sameNumber(a: Any, b: Any): Boolean = (a, b) match {
    case (x: Double, y: Double) => x == y || (x.isNaN && y.isNaN)
    case (x: Float, y: Float) => x == y || (x.isNaN && y.isNaN)
    case _ => false
  }

  private def isIn(value: Any, dataType: DataType, possible: Possible): Boolean =
    if (value == null) possible.mayBeNull
    else OrderedType.number(value, dataType).fold(possible.mayBeNaN)(possible.contains)

  private def boxAround(x: Any, dataType: DataType): Possible = {
    val point = OrderedType.possible(x, dataType)
    val domain = OrderedType.domain(dataType).get
    random.nextInt(4) match {
      case 0 => point
      case 1 => domain.all
      case _ =>
        val other = OrderedType.number(RandomValues.notNull(random, dataType), dataType)
        val hull = (OrderedType.number(x, dataType).toSeq ++ other).sorted
        val set = hull.headOption.fold(IntervalSet.Empty)(IntervalSet.closed(_, hull.last))
        Possible(set, point.specials)
    }
  }
}

object AgainstSpark {

  /** It is not a leaf, about which nothing but its type is known. */
  def isKnown(expression: Expression, columns: Seq[AttributeReference]): Boolean = {
    val linear = new TermTranslation(BySide(AttributeSet(columns), AttributeSet.empty))
    val leaf: Option[Term] = linear.leaf(expression)
    !leaf.contains(new ConditionTranslation(linear).term(expression))
  }

  /** Where Spark's generated code and its interpreter differ: on dates beyond the year 294247. */
  def isTriedDate(expression: Expression): Boolean = expression match {
    case Cast(c, TimestampType | TimestampNTZType, _, EvalMode.TRY) => c.dataType == DateType
    case _ => false
  }
}
