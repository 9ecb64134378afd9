// SPDX-License-Identifier: Apache-2.0
// Laws, and examples.
package plait.order

import java.time.ZoneId

import org.scalacheck.Gen
import org.scalacheck.Prop._

import plait.constraint.Conditions._
import plait.constraint.Term._
import plait.constraint.{Arithmetic, Elementary, Overflow, Term, Value}
import plait.interval.ClockOperation._
import plait.interval.FieldOperation._
import plait.interval.StepOperation.{Floor, FloorQuotient, Quotient}
import plait.interval._
import plait.order.Monotonicity._
import plait.{LawSuite, Side}

class MonotonicityLaws extends LawSuite {
  private val up = StrictlyIncreasing
  private val down = StrictlyDecreasing

  /** NaN above all; none for NULL and errors. */
  private def place(term: Term, values: Map[Variable, Value]): Option[(Int, Rational)] =
    evaluate(term, values).collect {
      case Value.Number(k) => (0, k)
      case Value.NaN => (1, Rational.Zero)
    }

  property(
    "two rows, the later one not lower in x, y and d: the term goes where it is said to go"
  ) {
    val rows = for {
      depth <- Gen.choose(1, 2)
      t <- Gen.oneOf(Domain.Byte, Domain.Double).flatMap(term(_, depth))
      a <- assignment
      b <- assignment
    } yield (t, a, b)
    forAll(rows) { case (t, a, b) =>
      def sorted(v: Variable) = Seq(a(v), b(v)).sortBy(x => place(v, Map(v -> x)))
      val moving = Seq(x, y, d)
      val isRow = moving.forall(v => place(v, a).isDefined && place(v, b).isDefined)
      val first = a ++ moving.map(v => v -> sorted(v).head)
      val second = b ++ moving.map(v => v -> sorted(v).last) + (p -> a(p))
      // They rise strictly if all three do.
      val rises = moving.forall(v => place(v, first) != place(v, second))
      val moved: Monotonicity = if (rises) up else NonDecreasing
      val along = moving.map(v => (v: Term) -> moved).toMap
      val order = implicitly[Ordering[(Int, Rational)]]
      !isRow || (for { l <- place(t, first); r <- place(t, second) } yield {
        val compared = order.compare(l, r)
        of(t, along) match {
          case Monotonicity.Constant => compared == 0
          case StrictlyIncreasing => compared < 0
          case StrictlyDecreasing => compared > 0
          case moved if moved.isNonDecreasing => compared <= 0
          case moved if moved.isNonIncreasing => compared >= 0
          case _ => true
        }
      }).getOrElse(true)
    }
  }

  private def long(name: String) = Variable(name, Side.Left, Domain.Long)
  private val (a, b) = (long("a"), long("b"))
  private val ts = Variable("ts", Side.Left, Domain.Timestamp)
  private def on(operation: RealOperation, overflow: Overflow, terms: Term*) =
    Call(Arithmetic(operation, Domain.Long, Domain.Long, overflow), terms: _*)

  test("a + b, -a, a - b, 2 * a and a div 10 with a and b ascending") {
    val both = Map[Term, Monotonicity](a -> up, b -> up)
    assertEquals(of(Add(a, b), both): Monotonicity, StrictlyIncreasing)
    assertEquals(of(Term.Negate(a), both): Monotonicity, StrictlyDecreasing)
    assertEquals(of(Subtract(a, b), both): Monotonicity, Unknown)
    assertEquals(of(Scale(a, 2), both): Monotonicity, StrictlyIncreasing)
    assertEquals(of(Term.Constant(3), both): Monotonicity, Monotonicity.Constant)
    val tenth = on(Quotient, Overflow.Fails, a, Term.Constant(10))
    assertEquals(of(tenth, both): Monotonicity, NonDecreasing)
  }

  test("a - b with a ascending and b descending") {
    val along = Map[Term, Monotonicity](a -> up, b -> down)
    assertEquals(of(Subtract(a, b), along): Monotonicity, StrictlyIncreasing)
    assertEquals(of(Subtract(b, a), along): Monotonicity, StrictlyDecreasing)
  }

  test("what may wrap is unknown: a + 1 in legacy mode") {
    val along = Map[Term, Monotonicity](a -> up)
    assertEquals(of(on(Plus, Overflow.Wraps, a, Term.Constant(1)), along): Monotonicity, Unknown)
    assertEquals(
      of(on(Plus, Overflow.Fails, a, Term.Constant(1)), along): Monotonicity,
      StrictlyIncreasing
    )
    assertEquals(of(on(Quotient, Overflow.Fails, a, b), along): Monotonicity, Unknown)
    assertEquals(of(on(Floor(Rational(10)), Overflow.Fails, a), along): Monotonicity, NonDecreasing)
  }

  private def truncated(zone: String, unit: TimeUnit) = Call(
    Arithmetic(
      TruncateTimestamp(ZoneId.of(zone), unit),
      Domain.Timestamp,
      Domain.Timestamp,
      Overflow.Fails
    ),
    ts
  )

  private def date(zone: String) = Call(
    Arithmetic(
      FloorQuotient(Rational(TimeUnit.Day.micros)),
      Domain.TimestampNtz,
      Domain.Date,
      Overflow.Fails
    ),
    Call(
      Arithmetic(ToLocal(ZoneId.of(zone)), Domain.Timestamp, Domain.TimestampNtz, Overflow.Fails),
      ts
    )
  )

  test(
    "date_trunc and CAST AS DATE keep the order of ts but where clocks went back over the border"
  ) {
    val along = Map[Term, Monotonicity](ts -> up)
    assertEquals(of(truncated("Europe/Berlin", TimeUnit.Hour), along): Monotonicity, NonDecreasing)
    assertEquals(of(date("Europe/Berlin"), along): Monotonicity, NonDecreasing)
    assertEquals(of(truncated("America/St_Johns", TimeUnit.Day), along): Monotonicity, Unknown)
    assertEquals(of(date("America/St_Johns"), along): Monotonicity, Unknown)
  }

  test("d + 1.5 rises, d + infinity does not: of -infinity it makes NaN, which is above all") {
    val along = Map[Term, Monotonicity](d -> up)
    def plus(x: Rational) = Call(
      Arithmetic(Plus, Domain.Double, Domain.Double, Overflow.Fails),
      d,
      Known(Possible.only(x), Domain.Double, "x")
    )
    assertEquals(of(plus(Rational.of(1.5)), along): Monotonicity, NonDecreasing)
    assertEquals(of(plus(Domain.Double.infinity), along): Monotonicity, Unknown)
  }

  test("-x of a double is unknown, for NaN stays last; exp(x) rises") {
    val along = Map[Term, Monotonicity](d -> up)
    val negated =
      Call(Arithmetic(FieldOperation.Negate, Domain.Double, Domain.Double, Overflow.Fails), d)
    assertEquals(of(negated, along): Monotonicity, Unknown)
    assertEquals(of(Call(Elementary.named("exp"), d), along): Monotonicity, NonDecreasing)
  }
}
