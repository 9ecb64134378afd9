// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import org.scalacheck.Gen

import plait.Side
import plait.constraint.Term._
import plait.interval.Domain

/** Random terms and comparisons over two columns a side, and their evaluation. */
object Terms {
  val a: Variable = Variable("a", Side.Left, Domain.Long)
  val b: Variable = Variable("b", Side.Left, Domain.Long)
  val s: Variable = Variable("s", Side.Right, Domain.Long)
  val t: Variable = Variable("t", Side.Right, Domain.Long)

  val variables: Seq[Variable] = Seq(a, b, s, t)

  val constant: Gen[Term] = Gen.choose(-9, 9).map(Constant(_))
  val leaf: Gen[Term] = Gen.frequency(3 -> Gen.oneOf(variables), 1 -> constant)

  def term(depth: Int): Gen[Term] =
    if (depth == 0) leaf
    else
      Gen.frequency(
        2 -> leaf,
        3 -> (for { l <- term(depth - 1); r <- term(depth - 1) } yield Add(l, r)),
        3 -> (for { l <- term(depth - 1); r <- term(depth - 1) } yield Subtract(l, r)),
        1 -> term(depth - 1).map(Negate(_)),
        1 -> (for { c <- term(depth - 1); k <- Gen.choose(1, 4) } yield Scale(c, k))
      )

  val comparison: Gen[Comparison] = Gen.frequency(
    3 -> Gen.const(Comparison.Less),
    3 -> Gen.const(Comparison.AtMost),
    3 -> Gen.const(Comparison.Greater),
    3 -> Gen.const(Comparison.AtLeast),
    1 -> Gen.const(Comparison.Equal),
    1 -> Gen.const(Comparison.NotEqual)
  )

  def compare(depth: Int): Gen[Compare] =
    for { op <- comparison; l <- term(depth); r <- term(depth) } yield Compare(op, l, r)

  def evaluate(term: Term, value: Variable => BigInt): BigInt = term match {
    case v: Variable => value(v)
    case Constant(x) => x
    case Add(l, r) => evaluate(l, value) + evaluate(r, value)
    case Subtract(l, r) => evaluate(l, value) - evaluate(r, value)
    case Negate(c) => -evaluate(c, value)
    case Scale(c, k) => k * evaluate(c, value)
    case other => throw new IllegalArgumentException(s"$other is no exact sum")
  }

  def holds(comparison: Compare, value: Variable => BigInt): Boolean =
    comparison.op.holds(evaluate(comparison.left, value), evaluate(comparison.right, value))

  val assignment: Gen[Map[Variable, BigInt]] =
    Gen.listOfN(variables.size, Gen.choose(-20, 20).map(BigInt(_))).map(variables.zip(_).toMap)
}
