// SPDX-License-Identifier: Apache-2.0
// Laws and examples: the reach by the cases of a condition, against Spark's own evaluation of it.
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.types._

import plait.constraint.Term
import plait.order.{Direction, SolvedReach}
import plait.spark.planner.{ConditionCases, JoinCondition}
import plait.spark.translate.{CaseReachEnds, OrderedType}
import plait.{BySide, Cases, Side}

/** Conditions that are an OR of bands, of what holds of a side alone, and of NULLs; or choose among such. */
class CaseReachLaws extends munit.FunSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  private val types =
    Seq(LongType, IntegerType, DoubleType, DecimalType(9, 2), DateType, StringType)

  final private class RandomCases(random: Random, columns: Seq[AttributeReference]) {
    private def pick[A](from: A*): A = from(random.nextInt(from.size))
    private val (l, r) = columns.splitAt(2)

    private def literal =
      Literal.create(RandomValues.notNull(random, l.head.dataType), l.head.dataType)

    private def compared(one: Expression, other: Expression): Expression =
      pick(
        LessThan(_, _),
        LessThanOrEqual(_, _),
        GreaterThan(_, _),
        GreaterThanOrEqual(_, _),
        EqualTo(_, _)
      )(
        one,
        other
      )

    /** In TRY mode, so that no error hides a pair. */
    private def moved(x: Expression): Expression = x.dataType match {
      case LongType | IntegerType | DoubleType if random.nextBoolean() =>
        val by = Cast(Literal(1 + random.nextInt(9)), x.dataType)
        val context = NumericEvalContext(EvalMode.TRY)
        if (random.nextBoolean()) Add(x, by, context) else Subtract(x, by, context)
      case DateType if random.nextBoolean() => DateAdd(x, Literal(random.nextInt(9) - 4))
      case _ => x
    }

    private def conjunct: Expression = random.nextInt(8) match {
      case 0 => compared(pick(columns: _*), literal)
      case 1 =>
        if (random.nextBoolean()) IsNull(pick(columns: _*)) else IsNotNull(pick(columns: _*))
      case 2 => In(pick(l: _*), Seq(pick(r: _*), moved(pick(r: _*))))
      case 3 => EqualNullSafe(pick(l: _*), pick(r: _*))
      case _ => compared(moved(pick(l: _*)), moved(pick(r: _*)))
    }

    /** Mostly a band, so that it has two ends. */
    private def oneCase: Expression = {
      val (x, y) = (pick(l: _*), pick(r: _*))
      val band = And(GreaterThanOrEqual(moved(x), moved(y)), LessThanOrEqual(moved(x), moved(y)))
      (if (random.nextInt(4) > 0) Seq(band) else Nil)
        .++(Seq.fill(random.nextInt(3))(conjunct))
        .reduceOption(And(_, _))
        .getOrElse(conjunct)
    }

    private def chosen: Expression = random.nextInt(3) match {
      case 0 => If(conjunct, oneCase, oneCase)
      case 1 => CaseWhen(Seq(conjunct -> oneCase, conjunct -> oneCase), Some(oneCase))
      case _ => CaseWhen(Seq(conjunct -> oneCase), None)
    }

    def condition: Expression = {
      val cases = Seq
        .fill(1 + random.nextInt(3))(if (random.nextInt(4) > 0) oneCase else chosen)
        .reduce(Or(_, _))
      if (random.nextInt(4) == 0) And(conjunct, cases) else cases
    }
  }

  for (dataType <- types)
    test(s"a pair for which the condition is TRUE is within reach, of $dataType") {
      val random = new Random(Cases.seed + dataType.hashCode)
      val laws = new AgainstSpark(random)
      val count = Cases.of(400, soak = 20000)
      for (_ <- 0 until count) {
        val columns = Seq("a", "b", "s", "t").map(AttributeReference(_, dataType)())
        val _ = laws.check(new RandomCases(random, columns).condition, columns)
      }
      assert(laws.satisfied > count, s"only ${laws.satisfied} pairs matched")
      // Of texts there are no formulas but columns.
      assert(laws.ended > count / 20, s"only ${laws.ended} of $count conditions end a reach")
    }

  private val (l, r) = (
    Seq("a", "kind").map(AttributeReference(_, LongType)()),
    Seq("s", "u").map(AttributeReference(_, LongType)())
  )
  private val Seq(a, kind, s, u) = l ++ r: @unchecked

  private def between(x: Expression, low: Expression, high: Expression) =
    And(GreaterThanOrEqual(x, low), LessThanOrEqual(x, high))
  private def plus(x: Expression, n: Long) = Add(x, Literal(n))

  private def byCases(condition: Expression): CaseReachEnds = {
    val joined = new JoinCondition(condition, BySide(LocalRelation(l), LocalRelation(r)))
    val own = joined.whole.oneSided(joined.whole.term(condition), Side.Left).toIndexedSeq
    val order: Term = joined.whole.term(s)
    joined.byCases(new SolvedReach(joined.termAlone, Side.Left, order, own), Nil)
  }

  private def ends(condition: Expression, row: Any*): (Any, Any) = {
    val found = byCases(condition)
    def at(e: Expression) = BindReferences
      .bindReference(e, l)
      .eval(org.apache.spark.sql.catalyst.InternalRow.fromSeq(row))
    (at(found.low), at(found.high))
  }

  private val two = Or(between(s, plus(a, -9), a), between(s, plus(a, 20), plus(a, 60)))

  test("s in [a - 9, a] or [a + 20, a + 60] is in [a - 9, a + 60]") {
    assertEquals[Any, Any](ends(two, 100L, 1L), (91L, 160L))
    assertEquals[Any, Any](ends(two, null, 1L), (null, null))
  }

  test("a case that is FALSE of the row, or NULL, is left out") {
    val guarded = Or(
      And(EqualTo(kind, Literal(1L)), between(s, a, plus(a, 5))),
      And(EqualTo(kind, Literal(2L)), between(s, plus(a, 50), plus(a, 70)))
    )
    assertEquals[Any, Any](ends(guarded, 100L, 1L), (100L, 105L))
    assertEquals[Any, Any](ends(guarded, 100L, 2L), (150L, 170L))
    assertEquals[Any, Any](ends(guarded, 100L, 3L), (null, null))
    assertEquals[Any, Any](ends(guarded, 100L, null), (null, null))
  }

  test("a CASE is the branch that the row takes, and those that it may take by the other row") {
    val (one, two) = (between(s, a, plus(a, 5)), between(s, plus(a, 50), plus(a, 70)))
    val chosen =
      CaseWhen(Seq(EqualTo(kind, Literal(1L)) -> one, EqualTo(kind, u) -> two), Some(one))
    assertEquals[Any, Any](ends(chosen, 100L, 1L), (100L, 105L))
    assertEquals[Any, Any](ends(chosen, 100L, 2L), (100L, 170L))
    assertEquals[Any, Any](ends(chosen, 100L, null), (100L, 170L))
    val noOther = If(EqualTo(kind, Literal(1L)), Literal(null, BooleanType), two)
    assertEquals[Any, Any](ends(noOther, 100L, 1L), (null, null))
    assertEquals[Any, Any](ends(noOther, 100L, null), (150L, 170L))
  }

  test("s in [a, a + 5] or s IS NULL: a row without a reaches what has no s, and nothing else") {
    val orNull = Or(between(s, a, plus(a, 5)), IsNull(s))
    assertEquals[Any, Any](ends(orNull, 100L, 1L), (100L, 105L))
    assertEquals[Any, Any](ends(orNull, null, 1L), (Long.MaxValue, Long.MinValue))
  }

  test("s IN (a, kind) is two cases") {
    assertEquals[Any, Any](ends(In(s, Seq(a, kind)), 7L, 100L), (7L, 100L))
    assertEquals[Any, Any](ends(In(s, Seq(a, kind)), 7L, null), (7L, 7L))
  }

  test(
    "what a case says of the other side alone ends it, too, and that end does not follow the row"
  ) {
    val above = Or(And(GreaterThan(s, Literal(50L)), LessThan(s, a)), between(s, a, plus(a, 9)))
    assertEquals[Any, Any](ends(above, 100L, 1L), (51L, 109L))
    assert(byCases(above).follows(Direction.Ascending))
    assert(!byCases(above).follows(Direction.Descending))
  }

  test("a case that ends nothing ends none of them") {
    val endless = Or(between(s, a, plus(a, 9)), GreaterThan(u, Literal(3L)))
    assertEquals[Any, Any](ends(endless, 100L, 1L), (Long.MinValue, Long.MaxValue))
    assert(!byCases(endless).follows(Direction.Ascending))
  }

  test("but for one that most rows have no part in: s in [a, a + 9] or a IS NULL") {
    val orNone = Or(between(s, a, plus(a, 9)), IsNull(a))
    assertEquals[Any, Any](ends(orNone, 100L, 1L), (100L, 109L))
    assertEquals[Any, Any](ends(orNone, null, 1L), (Long.MinValue, Long.MaxValue))
    assert(byCases(orNone).follows(Direction.Ascending))
  }

  test("a case of which the row's own values make an error is left out, as it is TRUE of no pair") {
    val share = Divide(Literal(100.0), Cast(kind, DoubleType), NumericEvalContext(EvalMode.ANSI))
    val raising = Or(
      And(GreaterThan(share, Literal(3.0)), between(s, a, plus(a, 5))),
      between(s, plus(a, 50), plus(a, 70))
    )
    assertEquals[Any, Any](ends(raising, 100L, 1L), (100L, 170L))
    assertEquals[Any, Any](ends(raising, 100L, 0L), (150L, 170L))
  }

  test("a case whose reach is empty, or lacks an end, is left out at both ends") {
    val ranges = Or(between(s, a, plus(a, 5)), between(s, kind, Literal(50L)))
    assertEquals[Any, Any](ends(ranges, 100L, 20L), (20L, 105L))
    assertEquals[Any, Any](ends(ranges, 100L, 60L), (100L, 105L))
    assertEquals[Any, Any](ends(ranges, null, 20L), (20L, 50L))
  }

  test(
    "a guard that most rows may pass is no end: what asks both sides more than is understood is not by cases"
  ) {
    val wide = Or(
      between(s, a, plus(a, 9)),
      And(EqualTo(kind, Literal(3L)), LessThan(Multiply(a, s), Literal(9L)))
    )
    assert(!byCases(wide).follows(Direction.Ascending))
    assert(byCases(Or(two, EqualTo(kind, Literal(3L)))).follows(Direction.Ascending))
  }

  test(
    "more than 8 cases are one that is not understood; what is of one side alone is not taken apart"
  ) {
    val cases = new ConditionCases(e =>
      Seq(l, r).forall(side => e.references.exists(c => side.exists(_.exprId == c.exprId)))
    )
    def of(n: Int) =
      Seq.tabulate(n)(i => EqualTo(s, plus(a, i.toLong))).reduce[Expression](Or(_, _))
    assertEquals(cases.of(of(8)).size, 8)
    assertEquals(cases.of(of(9)), Seq(Seq(of(9))))
    assertEquals(cases.of(And(of(2), of(4))).size, 8)
    assertEquals(cases.of(And(of(3), of(4))).size, 1)
    val own = In(kind, Seq(Literal(1L), Literal(2L)))
    assertEquals(cases.of(And(own, of(2))), Seq(Seq(own, of(1)), Seq(own, EqualTo(s, plus(a, 1)))))
    assertEquals(cases.of(EqualNullSafe(s, a)), Seq(Seq(EqualTo(s, a)), Seq(IsNull(s), IsNull(a))))
  }

  test("every type has ranks") {
    for (dataType <- types) assert(OrderedType.domain(dataType).isDefined)
  }
}
