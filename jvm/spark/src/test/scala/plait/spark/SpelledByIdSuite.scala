// SPDX-License-Identifier: Apache-2.0
// Examples: which expressions are one term, and how long it takes to see that.
package plait.spark

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import plait.BySide
import plait.constraint.{Narrowing, Solver}
import plait.interval.{Possible, Rational}
import plait.spark.translate.{ConditionTranslation, TermTranslation}

class SpelledByIdSuite extends munit.FunSuite {
  private def column(name: String, dataType: DataType) = AttributeReference(name, dataType)()
  private val (a, b, c) =
    (column("a", DoubleType), column("b", DoubleType), column("c", DoubleType))
  private val (i, j, k) =
    (column("i", IntegerType), column("j", IntegerType), column("k", IntegerType))
  private val t = column("t", DoubleType)

  private def translation =
    new TermTranslation(BySide(AttributeSet(Seq(a, b, c, i, j, k)), AttributeSet(Seq(t))))

  private def areOne(one: Expression, other: Expression): Boolean = {
    val terms = translation
    terms.leaf(one).get == terms.leaf(other).get
  }

  private def in(mode: EvalMode.Value)(l: Expression, r: Expression) =
    Add(l, r, NumericEvalContext(mode, false))
  private val plus = in(EvalMode.ANSI) _

  test("(a + b) + c and a + (b + c) of doubles are two values: 1e20 - 1e20 + 3 is 3 or 0") {
    assert(!areOne(plus(plus(a, b), c), plus(a, plus(b, c))))
  }

  test("try_add(i, j) + k and i + j + k are two values: one may be NULL") {
    val tried = in(EvalMode.TRY)(i, j)
    assert(!areOne(plus(tried, k), plus(plus(i, j), k)))
  }

  test("a + b and b + a are one value, whatever their columns are called") {
    assert(areOne(plus(a, b), plus(b.withName("B"), a.withQualifier(Seq("u")))))
  }

  test("a sum of 300 products over both sides is translated in no time") {
    val xs = Seq.tabulate(300)(n => column(s"x$n", DoubleType))
    val ys = Seq.tabulate(300)(n => column(s"y$n", DoubleType))
    val context = NumericEvalContext(EvalMode.ANSI, false)
    val products = xs.zip(ys).map { case (x, y) => Multiply(x, y, context): Expression }
    val sum = products.reduce(plus(_, _))
    val terms = new TermTranslation(BySide(AttributeSet(xs), AttributeSet(ys)))
    assert(terms.compare(GreaterThan(sum, Literal(0.5))).isDefined)
  }

  test("a list of 50,000 numbers is read in no time, and asked in less") {
    val list = In(i, Seq.tabulate(50000)(n => Literal(7 * n)))
    val terms = new ConditionTranslation(translation)
    val solver = new Solver(terms.term(list))
    val of = terms.term(i)
    def answer(n: Long) = solver.solve(of -> Possible.only(Rational(n)))
    for (n <- 1L to 500L) {
      assert(answer(7 * n) != Narrowing.Infeasible, s"7 * $n")
      assertEquals(answer(7 * n + 1), Narrowing.Infeasible, s"7 * $n + 1")
    }
  }
}
