// SPDX-License-Identifier: Apache-2.0
// Laws.
package plait.constraint

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.LawSuite
import plait.constraint.Conditions._
import plait.constraint.Term._
import plait.interval._

class SolverLaws extends LawSuite {

  /** @param values under which the condition is TRUE
    * @param known a set around the value of each variable
    */
  private case class Trial(
      condition: Term,
      values: Map[Variable, Value],
      known: Seq[(Term, Possible)]
  )

  private def knownAround(values: Map[Variable, Value]): Gen[Seq[(Term, Possible)]] =
    Gen
      .sequence[Seq[Possible], Possible](
        variables.map(v => Value.around(values(v), v.domain, valueOf(v.domain)))
      )
      .map(variables.zip(_))

  /** The term, or what of it is TRUE: that it is not, or that it is NULL. */
  private def madeTrue(term: Term, values: Map[Variable, Value]): Option[Term] =
    evaluate(term, values).map {
      case Value.True => term
      case Value.Null => Call(Logic.Is(Specials.Null), term)
      case _ => Call(Logic.Not, term)
    }

  private val trial: Gen[Trial] = for {
    depth <- Gen.choose(1, 3)
    values <- assignment
    parts <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, term(Domain.Boolean, depth)))
    known <- knownAround(values)
  } yield Trial(Call(Logic.And, parts.flatMap(madeTrue(_, values)): _*), values, known)

  private def valuesOf(narrowing: Narrowing): Option[Term => Possible] = narrowing match {
    case Narrowing.Narrowed(values) => Some(values)
    case Narrowing.Unchanged(values) => Some(values)
    case Narrowing.Infeasible => None
  }

  property("a solution is not infeasible, and stays inside in every variable and every subterm") {
    forAll(trial) { t =>
      val solver = new Solver(t.condition)
      valuesOf(solver.solve(t.known)).exists { narrowed =>
        solver.nodes.forall(n => evaluate(n, t.values).forall(Value.isIn(narrowed(n), _)))
      }
    }
  }

  property("infeasible is said only where none of the drawn assignments is a solution") {
    val drawn = for {
      condition <- term(Domain.Boolean, 3)
      known <- assignment.flatMap(knownAround)
      all <- Gen.listOfN(20, assignment)
    } yield (condition, known, all)
    forAll(drawn) { case (condition, known, all) =>
      val inside = all.filter(values =>
        known.forall { case (v: Variable, p) => Value.isIn(p, values(v)); case _ => false }
      )
      valuesOf(new Solver(condition).solve(known)) match {
        case None => !inside.exists(evaluate(condition, _).contains(Value.True))
        case Some(narrowed) =>
          inside.filter(evaluate(condition, _).contains(Value.True)).forall { values =>
            variables.forall(v => Value.isIn(narrowed(v), values(v)))
          }
      }
    }
  }

  property("however early it stops, a solution stays inside, and the same question has one answer") {
    forAll(trial, Gen.choose(0, 4)) { (t, effort) =>
      def answer() = valuesOf(new Solver(t.condition, Nil, effort).solve(t.known))
      val (found, again) = (answer(), answer())
      variables.forall { v =>
        found.map(_(v)).exists(Value.isIn(_, t.values(v))) && found.map(_(v)) == again.map(_(v))
      }
    }
  }

  private def isWithin(a: Possible, b: Possible): Boolean = a.intersect(b) == a

  property("solving again from what was found gives no more than that, and loses no solution") {
    forAll(trial) { t =>
      val solver = new Solver(t.condition)
      val first = valuesOf(solver.solve(t.known)).map(f => variables.map(v => (v, f(v))))
      first.exists { found =>
        valuesOf(solver.solve(found)).exists { again =>
          found.forall { case (v, possible) =>
            isWithin(again(v), possible) && Value.isIn(again(v), t.values(v))
          }
        }
      }
    }
  }

  property("what is found is inside what was known, and traced it is the same") {
    forAll(trial) { t =>
      val solver = new Solver(t.condition)
      val narrowed = valuesOf(solver.solve(t.known))
      val traced = valuesOf(solver.traced(t.known: _*)._1)
      val known = t.known.toMap[Term, Possible]
      val inside = variables.filter(solver.nodes.contains)
      narrowed.exists(f => inside.forall(v => isWithin(f(v), known(v)))) &&
      inside.forall(v => narrowed.map(_(v)) == traced.map(_(v)))
    }
  }
}
