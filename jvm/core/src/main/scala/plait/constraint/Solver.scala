// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import scala.collection.mutable

import plait.constraint.Term._
import plait.interval._

/** Narrows what the terms of a condition may be, given that the condition is TRUE.
  *
  * {{{
  *                  a > b - 3  AND  a < b + 10           a >= 1, b >= 6
  *
  *   upward         b - 3 ∈ [3, +inf)                    each term from its arguments
  *   downward       a ∈ (3, +inf)                        each argument from the result
  *   again          a < b + 10 gives b > -7              until no end moves
  * }}}
  *
  * {{{
  * new Solver(condition).solve(a -> Possible.in(IntervalSet.atLeast(Rational.One)), b -> atLeastSix)
  *   Narrowed(values), values(a) = (3, +inf), values(b) = [6, +inf)
  * new Solver(n = 1 AND n = 2).solve()              Infeasible
  * new Solver(n <= n).solve(n -> oneToNine)         Unchanged: every one of them may be
  * }}}
  *
  * The terms are a graph: a term that stands in several places is one node, and what one place says
  * of it holds in the others. A node whose result may come from one of several arguments (OR) is
  * also solved case by case, and what the cases allow is united.
  *
  * Conventions:
  *   1. Sound: every assignment under which the condition is TRUE, and whose values were inside
  *      before, is inside afterwards. Nothing else is promised of how narrow the answer is.
  *   2. Bounded: at most [[Solver.Rounds]] rounds, [[Solver.Depth]] nested cases and
  *      [[Solver.Tries]] cases in all, and so many steps as `effort` sweeps over all nodes would
  *      take, a step being one operation forward or back. `x < y AND y < x` moves an end by one a
  *      round, and stops there without an answer. So the time of an answer grows with the
  *      condition, never with what is asked; and the same question has the same answer.
  *   3. Errors: a term is narrowed by what it is an argument of only if that is surely evaluated. In
  *      `n = 0 OR 10 div n > 3`, n may be 0.
  *   4. An answer is one of three: narrowed, unchanged, infeasible (the condition is never TRUE).
  *   5. Only news travels: a node is computed again, and tells its arguments again, only if it or one
  *      of them has changed since. What follows from the types alone is found once, at first.
  *
  * One instance serves one condition and one thread.
  *
  * @param others
  *   terms to be narrowed too, whether or not the condition holds them
  */
final class Solver(
    val condition: Term,
    others: Seq[Term] = Nil,
    effort: Int = Solver.Effort
) {
  import Solver._

  /** Arguments before what they are arguments of. */
  val nodes: IndexedSeq[Term] = {
    val found = mutable.LinkedHashSet.empty[Term]
    def visit(term: Term): Unit = if (!found.contains(term)) {
      term.children.foreach(visit)
      found += term
    }
    (others :+ condition).foreach(visit)
    found.toIndexedSeq
  }
  private val indexOf = nodes.zipWithIndex.toMap
  private val operations: Array[Operation] = nodes.map(operationOf).toArray
  private val domains: Array[Domain] = nodes.map(_.domain).toArray
  private val arguments: Array[Array[Int]] =
    nodes.map(_.children.map(indexOf).toArray).toArray

  /** The nodes that each one is an argument of. */
  private val users: Array[Array[Int]] = {
    val found = Array.fill(nodes.size)(mutable.ArrayBuilder.make[Int])
    for (user <- nodes.indices; i <- arguments(user).distinct) found(i) += user
    found.map(_.result())
  }
  private val views: Array[Arguments] = arguments.map(new Arguments(_))

  /** Those of an OR first: the cases of many IFs would use up the tries. */
  private val branching: Array[Int] = {
    val (choices, junctions) = nodes.indices
      .filter(i => (operations(i) ne null) && operations(i).hasCases)
      .partition(operations(_).isInstanceOf[Choice.If])
    (junctions ++ choices).toArray
  }
  private val root = indexOf(condition)
  private val isConstant: Array[Boolean] = nodes.map {
    case _: Constant | _: Known => true
    case _ => false
  }.toArray

  /** How many cases may still be solved for this answer, and how many steps made. */
  private var triesLeft = 0
  private var stepsLeft = 0

  /** Of one upward and one downward sweep over all nodes. */
  private val stepsOfSweep = arguments.iterator.map(_.length + 1).sum

  /** What has changed, for each number of cases that may still be nested. */
  private val news: Array[News] = Array.fill(Depth + 1)(new News(nodes.size))

  /** Before anything is known but the types. */
  private val types: Array[Possible] = nodes.map {
    case Constant(x) => Possible.only(Rational(x))
    case Known(possible, _, _) => possible
    case opaque: Opaque => opaque.possible
    case term => term.domain.all
  }.toArray

  /** The types, and what follows from them upward. */
  private val start: Array[Possible] = {
    val state = types.clone()
    forward(state)
    state
  }

  /** What is known of some of the terms, NULL and NaN included. */
  def solve(known: Iterable[(Term, Possible)]): Narrowing = solve(withKnown(start, known))

  def solve(known: (Term, Possible)*): Narrowing = solve(known)

  private def withKnown(
      before: Array[Possible],
      known: Iterable[(Term, Possible)]
  ): Array[Possible] = {
    val state = before.clone()
    for ((term, possible) <- known; index <- indexOf.get(term))
      state(index) = tightened(index, state(index).intersect(possible))
    state
  }

  /** As [[solve]], by index of [[nodes]]; for callers that do so row by row. */
  def index(term: Term): Int = indexOf(term)
  def initial: Array[Possible] = start.clone()

  /** Narrows the array in place; false if the condition is never TRUE.
    *
    * @param state
    *   [[initial]], with some nodes narrowed
    */
  def narrow(state: Array[Possible]): Boolean = narrow(state, Silent)

  private def narrow(state: Array[Possible], watcher: Watcher): Boolean = {
    state(root) = state(root).intersect(Possible.True)
    triesLeft = Tries
    stepsLeft = effort * stepsOfSweep
    val changed = news(Depth)
    changed.clear()
    var i = 0
    while (i < state.length) {
      if (state(i) ne start(i)) note(i, changed)
      i += 1
    }
    changed.isEvaluated(root) = true
    !state(root).isNothing && propagate(state, Depth, watcher)
  }

  /** What the condition itself may be, by one upward sweep; nothing, if there is no value. */
  def forward(state: Array[Possible]): Possible = {
    stepsLeft = stepsOfSweep
    val changed = news(Depth)
    changed.clear()
    java.util.Arrays.fill(changed.isStale, true)
    upward(state, changed)
    state(root)
  }

  /** What each sweep of [[solve]] made of each term, as a table and as a graph. */
  def trace(known: (Term, Possible)*): Trace = traced(known: _*)._2

  /** As [[solve]], telling of each sweep. */
  def traced(known: (Term, Possible)*): (Narrowing, Trace) = {
    val trace = new Trace(nodes, nodes.map(_.children.map(indexOf)), root)
    trace.note("given", withKnown(types, known))
    val state = withKnown(start, known)
    val before = state.clone()
    (narrowing(before, state, narrow(state, trace)), trace)
  }

  private def solve(state: Array[Possible]): Narrowing = {
    val before = state.clone()
    narrowing(before, state, narrow(state))
  }

  private def narrowing(
      before: Array[Possible],
      after: Array[Possible],
      feasible: Boolean
  ): Narrowing =
    if (!feasible) Narrowing.Infeasible
    else if (isVariableMoved(before, after)) Narrowing.Narrowed(valuesOf(after))
    else Narrowing.Unchanged(valuesOf(after))

  private def valuesOf(state: Array[Possible]): Term => Possible =
    term => indexOf.get(term).fold(term.domain.all)(state(_))

  private def isVariableMoved(before: Array[Possible], after: Array[Possible]): Boolean =
    nodes.indices.exists(i => nodes(i).isInstanceOf[Variable] && before(i) != after(i))

  /** Sweeps until no end moves. Every state between is a superset of the solutions in the first.
    * What has changed, and which nodes surely have a value, stands in the news of this depth.
    */
  private def propagate(state: Array[Possible], depth: Int, watcher: Watcher): Boolean = {
    val changed = news(depth)
    var round = 0
    var change: Change = Change.Moved
    while (change == Change.Moved && round < Rounds && stepsLeft > 0) {
      change = upward(state, changed)
      watcher.note("upward", state)
      if (change != Change.Impossible) {
        change = downward(state, changed)
        watcher.note("downward", state)
      }
      round += 1
      if (change == Change.None && depth > 0) {
        change = byCases(state, depth)
        if (change != Change.None) watcher.note("by cases", state)
      }
    }
    change != Change.Impossible
  }

  private def upward(state: Array[Possible], changed: News): Change = {
    var i = 0
    // All nodes before i hold what follows from their arguments.
    while (i < operations.length && stepsLeft > 0) {
      if (changed.isStale(i) && (operations(i) ne null)) {
        stepsLeft -= 1
        val before = state(i)
        val after = before.intersect(operations(i).forward(argumentsOf(i, state)))
        if (after ne before) set(i, tightened(i, after), state, changed)
      }
      changed.isStale(i) = false
      if (changed.isEvaluated(i) && state(i).isNothing) return Change.Impossible
      i += 1
    }
    Change.None
  }

  private def downward(state: Array[Possible], changed: News): Change = {
    var moved: Change = Change.None
    var i = operations.length - 1
    // All nodes after i have told their arguments what they know, and which are evaluated.
    while (i >= 0 && stepsLeft > 0) {
      if (changed.isUntold(i) && changed.isEvaluated(i) && (operations(i) ne null)) {
        changed.isUntold(i) = false
        val values = argumentsOf(i, state)
        stepsLeft -= values.length
        var k = 0
        while (k < values.length) {
          if (operations(i).evaluates(state(i), values, k)) {
            val child = arguments(i)(k)
            changed.isEvaluated(child) = true
            val before = state(child)
            // What is known beforehand, or one number, is not narrowed: if it does not fit, upward tells.
            if (!isConstant(child) && !before.isPoint) {
              val after = before.intersect(operations(i).backward(state(i), values, k))
              if ((after ne before) && set(child, tightened(child, after), state, changed))
                moved = Change.Moved
            }
            if (state(child).isNothing) return Change.Impossible
          }
          k += 1
        }
      }
      i -= 1
    }
    moved
  }

  /** Is it news? Then it is noted. */
  private def set(node: Int, to: Possible, state: Array[Possible], changed: News): Boolean = {
    val isNews = to != state(node)
    if (isNews) {
      state(node) = to
      note(node, changed)
    }
    isNews
  }

  private def note(node: Int, changed: News): Unit = {
    changed.isUntold(node) = true
    val above = users(node)
    var k = 0
    while (k < above.length) {
      changed.isStale(above(k)) = true
      changed.isUntold(above(k)) = true
      k += 1
    }
  }

  /** Solves each open case apart and unites what is left. */
  private def byCases(state: Array[Possible], depth: Int): Change = {
    val changed = news(depth)
    var change: Change = Change.None
    var b = 0
    // What the branching nodes before said by cases has been united.
    while (b < branching.length && change != Change.Impossible) {
      val i = branching(b)
      if (changed.isEvaluated(i)) {
        val open = operations(i).cases(state(i), argumentsOf(i, state))
        if (open.size > 1 && open.size <= math.min(Cases, triesLeft)) {
          triesLeft -= open.size
          val solved = open.flatMap { case (k, only) => solvedCase(state, i, k, only, depth) }
          change = strongest(change, unite(state, solved, changed))
        }
      }
      b += 1
    }
    change
  }

  private def solvedCase(
      state: Array[Possible],
      node: Int,
      index: Int,
      only: Possible,
      depth: Int
  ): Option[Array[Possible]] = {
    val copy = state.clone()
    val child = arguments(node)(index)
    val changed = news(depth - 1)
    changed.copyFrom(news(depth))
    changed.isEvaluated(child) = true
    set(child, copy(child).intersect(only), copy, changed)
    Some(copy).filter(propagate(_, depth - 1, Silent))
  }

  private def unite(state: Array[Possible], solved: Seq[Array[Possible]], changed: News): Change =
    if (solved.isEmpty) Change.Impossible
    else {
      var change: Change = Change.None
      for (j <- state.indices) {
        val united = state(j).intersect(solved.map(_(j)).reduceLeft(_ union _))
        if (set(j, united, state, changed)) change = Change.Moved
      }
      change
    }

  private def strongest(a: Change, b: Change): Change =
    if (a == Change.Impossible || b == Change.None) a else b

  private def argumentsOf(node: Int, state: Array[Possible]): Arguments = {
    views(node).state = state
    views(node)
  }

  private def tightened(node: Int, possible: Possible): Possible = {
    val values = domains(node).tighten(possible.values)
    if ((values eq possible.values) || values == possible.values) possible
    else possible.copy(values = values)
  }
}

object Solver {
  val Rounds = 12
  val Depth = 2
  val Cases = 8
  val Tries = 40
  val Effort = 32

  trait Watcher {
    def note(what: String, state: Array[Possible]): Unit
  }
  private object Silent extends Watcher {
    def note(what: String, state: Array[Possible]): Unit = ()
  }

  /** The arguments of a node in a state, read as they are asked for: one object for all states. */
  final private class Arguments(indices: Array[Int])
      extends scala.collection.immutable.AbstractSeq[Possible]
      with IndexedSeq[Possible] {
    var state: Array[Possible] = Array.empty
    override def apply(k: Int): Possible = state(indices(k))
    override def length: Int = indices.length
  }

  sealed private trait Change
  private object Change {
    case object None extends Change
    case object Moved extends Change
    case object Impossible extends Change
  }

  private val plus = Arithmetic.exact(FieldOperation.Plus)
  private val minus = Arithmetic.exact(FieldOperation.Minus)
  private val negate = Arithmetic.exact(FieldOperation.Negate)

  /** What a node does; null for one that only is. */
  private def operationOf(term: Term): Operation = term match {
    case Call(operation, _) => operation
    case _: Add => plus
    case _: Subtract => minus
    case _: Negate => negate
    case Scale(_, k) => Arithmetic.exact(ScaledBy(Rational(k)))
    case _: Variable | _: Constant | _: Known | _: Opaque => null
  }

  /** `factor * a` */
  final private case class ScaledBy(factor: Rational) extends RealOperation {
    private val factors = IntervalSet.point(factor)
    def name: String = s"$factor *"
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = RealOperation.product(as(0), factors)
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      RealOperation.unproduct(result, factors)
  }
}
