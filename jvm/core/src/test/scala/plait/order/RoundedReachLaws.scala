// SPDX-License-Identifier: Apache-2.0
// Laws: the oracle is the JVM's own arithmetic of doubles and floats, rounded as Spark's is.
package plait.order

import java.util.SplittableRandom

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.constraint.Term._
import plait.constraint._
import plait.interval.{Domain, FieldOperation, IntervalSet, Possible, RealOperation, Specials}
import plait.{LawSuite, Side}

class RoundedReachLaws extends LawSuite {
  private type Row = Map[Variable, Double]

  /** Conditions over two columns a side of one floating domain. */
  final private class Conditions(domain: Domain.Floating, random: SplittableRandom) {
    val variables: IndexedSeq[Variable] = IndexedSeq("a" -> Side.Left, "b" -> Side.Left)
      .appendedAll(Seq("s" -> Side.Right, "t" -> Side.Right))
      .map { case (id, side) => Variable(id, side, domain) }

    def number(): Double = {
      val x = random.nextInt(3) match {
        case 0 => Doubles.double(random)
        case 1 => random.nextInt(9) / 4.0
        case _ => if (random.nextInt(9) == 0) Double.NaN else random.nextInt(9) * 1e20
      }
      if (domain eq Domain.Float) x.toFloat.toDouble else x
    }

    def term(depth: Int): Term =
      if (depth == 0)
        if (random.nextInt(4) == 0) constant(number()) else variables(random.nextInt(4))
      else
        random.nextInt(9) match {
          case 0 | 1 => call(FieldOperation.Plus, term(depth - 1), term(depth - 1))
          case 2 | 3 => call(FieldOperation.Minus, term(depth - 1), term(depth - 1))
          case 4 => call(FieldOperation.Negate, term(depth - 1))
          case 5 => call(FieldOperation.Times, term(depth - 1), constant(number()))
          case 6 => call(FieldOperation.Times, constant(number()), term(depth - 1))
          case 7 => call(FieldOperation.Divide, term(depth - 1), constant(divisor()))
          case _ => call(FieldOperation.Absolute, term(depth - 1))
        }

    /** By 0 Spark does not divide: that is an error, or NULL. */
    private def divisor(): Double = Iterator.continually(number()).find(_ != 0).get

    def compare(): Compare = {
      val op = Seq(
        Comparison.Less,
        Comparison.AtMost,
        Comparison.Greater,
        Comparison.AtLeast,
        Comparison.Equal
      )(random.nextInt(5))
      Compare(op, term(random.nextInt(3)), term(random.nextInt(3)))
    }

    def row(): Row = {
      val few = Seq.fill(4)(number())
      val isNear = random.nextBoolean()
      variables.zipWithIndex.map { case (v, i) =>
        v -> (if (isNear) few(random.nextInt(2)) else few(i))
      }.toMap
    }

    private def call(operation: RealOperation, arguments: Term*): Term =
      Call(Arithmetic(operation, domain, domain, Overflow.Fails), arguments: _*)

    private def constant(x: Double): Term = {
      val possible =
        if (x.isNaN) Possible(IntervalSet.Empty, Specials.NaN)
        else if (x.isInfinite) Possible.only(if (x > 0) domain.infinity else -domain.infinity)
        else Possible.only(Doubles.number(x))
      Known(possible, domain, x.toString)
    }

    def evaluate(term: Term, row: Row): Double = {
      val x = term match {
        case v: Variable => row(v)
        case Known(_, _, text) => text.toDouble
        case Call(Arithmetic(operation, _, _, _), arguments) =>
          val xs = arguments.map(evaluate(_, row))
          operation match {
            case FieldOperation.Plus => xs(0) + xs(1)
            case FieldOperation.Minus => xs(0) - xs(1)
            case FieldOperation.Negate => -xs(0)
            case FieldOperation.Times => xs(0) * xs(1)
            case FieldOperation.Divide => xs(0) / xs(1)
            case _ => math.abs(xs(0))
          }
        case other => throw new IllegalArgumentException(s"$other")
      }
      // A sum of two floats, as a double, is rounded to the float that their sum is rounded to.
      if (domain eq Domain.Float) x.toFloat.toDouble else x
    }

    /** NaN is equal to itself and above all else; 0 and -0 are one. */
    def holds(c: Compare, row: Row): Boolean = {
      def rank(t: Term) = Rank.ofDouble(evaluate(t, row))
      c.op.holds(rank(c.left), rank(c.right))
    }
  }

  private def isReached(reach: Reach, target: Variable, row: Row): Boolean = {
    def end(toward: ReachEnd.Toward, bounds: Seq[ReachBound]) = {
      val (computed, names) = ReachEnd.of(toward, bounds)
      computed.at(names.map(v => Rank.ofDouble(row(v))).toArray)
    }
    val rank = Rank.ofDouble(row(target))
    end(ReachEnd.Low, reach.lower) <= rank && rank <= end(ReachEnd.High, reach.upper)
  }

  for (domain <- Seq(Domain.Double, Domain.Float))
    property(
      s"sums and multiples of ${domain.name}: the order of a matching row lies in the reach"
    ) {
      forAll(Gen.long) { seed =>
        val random = new SplittableRandom(seed)
        val conditions = new Conditions(domain, random)
        val conjunction = Seq.fill(1 + random.nextInt(2))(conditions.compare())
        conditions.variables.forall { target =>
          val reach = Reach.of(target.side.other, target, conjunction)
          Seq.fill(5)(conditions.row()).forall { row =>
            !conjunction.forall(conditions.holds(_, row)) || isReached(reach, target, row)
          }
        }
      }
    }
}
