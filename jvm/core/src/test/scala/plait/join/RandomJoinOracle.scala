// SPDX-License-Identifier: Apache-2.0
// Oracle: NestedLoopJoin over the condition itself, evaluated with exact integers.
package plait.join

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.constraint.Term.Variable
import plait.constraint.{Compare, Term, Terms}
import plait.join.Harness._
import plait.join.RandomJoinOracle.Columns
import plait.order.{OrderChoice, ReachBound, ReachEnd}
import plait.{BySide, Cases, Side}

class RandomJoinOracle extends FunSuite {
  override val munitTimeout: Duration = Cases.longest

  private val joins = Cases.of(200000, soak = 10000000)

  private def table(random: Random, side: Side): Seq[Columns] = {
    val columns = Terms.variables.filter(_.side == side)
    val spread = 1 + random.nextInt(40)
    Seq.tabulate(random.nextInt(13)) { id =>
      val values = columns.filter(_ => random.nextInt(12) > 0).map { v =>
        v -> BigInt(random.nextInt(2 * spread) - spread)
      }
      Columns(id, Option.when(random.nextInt(15) > 0)(random.nextInt(3)), values.toMap)
    }
  }

  private def condition(random: Random): Seq[Compare] = {
    val parameters = org.scalacheck.Gen.Parameters.default
    def pick() = Terms.compare(2).pureApply(parameters, org.scalacheck.rng.Seed(random.nextLong()))
    Seq.fill(1 + random.nextInt(3))(pick())
  }

  private def isTrue(comparison: Compare, values: Map[Variable, BigInt]): Boolean = {
    def named(t: Term): Set[Variable] = t match {
      case v: Variable => Set(v)
      case other => other.children.flatMap(named).toSet
    }
    (named(comparison.left) ++ named(comparison.right)).forall(values.contains) &&
    Terms.holds(comparison, values)
  }

  private def matches(conjunction: Seq[Compare])(l: Columns, r: Columns): Boolean =
    l.key.isDefined && l.key == r.key && conjunction.forall(isTrue(_, l.values ++ r.values))

  /** The rows as a driver hands them over: sorted by the order, with rank and reach in ranks. */
  private def inputs(choice: OrderChoice, tables: BySide[Seq[Columns]]): BySide[Seq[Row]] =
    BySide.make { side =>
      val order = choice.orders(side)
      val otherDirection = choice.orders(side.other).direction
      val rows = tables(side).map { c =>
        def end(toward: ReachEnd.Toward, bounds: Seq[ReachBound]): Option[Long] = {
          val (computed, names) = ReachEnd.of(toward, bounds)
          Option.when(names.forall(c.values.contains))(
            computed.at(names.map(c.values(_).toLong).toArray)
          )
        }
        val reach = for {
          low <- end(ReachEnd.Low, choice.reaches(side).lower)
          high <- end(ReachEnd.High, choice.reaches(side).upper)
          _ <- c.key
        } yield {
          val ends = Seq(low, high).map(otherDirection.rank)
          if (otherDirection.rank(0) == 0) (low, high) else (ends(1), ends(0))
        }
        val rank = valueOf(order.term, c).map(v => order.direction.rank(v.toLong))
        Row(c.id, c.key.getOrElse(-1), rank, reach)
      }
      rows.sortBy(_.rank)
    }

  private def valueOf(term: Term, c: Columns): Option[BigInt] =
    try Some(Terms.evaluate(term, c.values))
    catch { case _: NoSuchElementException => None }

  /** One condition over one pair of tables, at the core's pace and at a random one.
    * @return how many pairs it has
    */
  private def check(conjunction: Seq[Compare], choice: OrderChoice, random: Random): Int = {
    val tables = BySide.make(table(random, _))
    val expected = NestedLoopJoin
      .inner(tables.left, tables.right)(matches(conjunction))
      .map { case (l, r) => (l.id, r.id) }
      .sorted
    val rows = inputs(choice, tables)
    def clue: String = s"seed ${Cases.seed}, $conjunction, $tables"
    // The core gives candidates; the caller evaluates the condition, once a pair.
    def kept(pairs: Seq[(Row, Row)]) = pairs
      .map { case (l, r) => (l.id, r.id) }
      .filter { case (l, r) => matches(conjunction)(tables.left(l), tables.right(r)) }
      .sorted
    assertEquals(kept((new Join).run(rows)), expected, clue)
    def coin: Side = if (random.nextBoolean()) Side.Left else Side.Right
    assertEquals(kept((new Join).runFrom(rows, _ => coin)), expected, clue)
    val roles = joinTypes(random.nextInt(joinTypes.size))
    checkRoles(roles, tables, rows, matches(conjunction), s"$roles, $clue")
    expected.size
  }

  /** The same with a join type, which ends with nothing held. */
  private def checkRoles(
      roles: BySide[Role],
      tables: BySide[Seq[Columns]],
      rows: BySide[Seq[Row]],
      matches: (Columns, Columns) => Boolean,
      clue: => String
  ): Unit = {
    val join = new Join(roles)
    val found = join.outputs(rows, _.core.wants) { (l, r) =>
      matches(tables.left(l.id), tables.right(r.id))
    }
    val expected = defined[Columns](roles, tables, _.id)(matches)
    assertEquals(sorted(found), sorted(expected), clue)
    for (side <- Side.both) assertEquals(join.holds(side), Set.empty[Row], clue)
    assertEquals(join.keys.size, 0, clue)
  }

  test(s"$joins random joins give the rows of the nested loop, at any pace") {
    val random = new Random(Cases.seed)
    var joined = 0
    var pairs = 0L
    // Invariant: `joined` joins were run so far, all as the nested loop does.
    while (joined < joins) {
      val conjunction = condition(random)
      OrderChoice.best(conjunction, BySide(Nil, Nil)).foreach { choice =>
        for (_ <- 1 to 10) pairs += check(conjunction, choice, random)
        joined += 10
      }
    }
    assert(pairs > joins / 2L, s"the cases are too poor: $pairs pairs in $joins joins")
  }
}

object RandomJoinOracle {

  /** A row's columns by variable; one that is missing is NULL. */
  final case class Columns(id: Int, key: Option[Int], values: Map[Variable, BigInt])
}
