// SPDX-License-Identifier: Apache-2.0
package plait.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import plait.Side
import plait.constraint.Term._
import plait.constraint._
import plait.interval.{Domain, Possible, Rational}

/** What one narrowing of a linear condition of ten nodes takes, for a row whose values are known, and
  * what the sweeps take of which it is made.
  *
  * {{{
  * a + b > s - 3 AND a + b < s + 3      a = 100, b = 7      s in (104, 110)
  * }}}
  *
  * The ten: a, b, s, the constant, a + b, s - 3, s + 3, both comparisons, AND. The aim is less than
  * 2 microseconds a sweep.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
class SolverBenchmark {
  private def long(name: String, side: Side) = Variable(name, side, Domain.Long)
  private val (a, b, s) = (long("a", Side.Left), long("b", Side.Left), long("s", Side.Right))
  private val sum = Add(a, b)
  private val three = Constant(BigInt(3))
  private val condition = Call(
    Logic.And,
    Call(Compared(Comparison.Greater), sum, Subtract(s, three)),
    Call(Compared(Comparison.Less), sum, Add(s, three))
  )
  private val solver = new Solver(condition)
  require(solver.nodes.size == 10, s"${solver.nodes.size} nodes")

  private val (indexOfA, indexOfB) = (solver.index(a), solver.index(b))
  private val start = solver.initial
  private val state = solver.initial
  private var row = 0L

  @Benchmark
  def narrow(): Boolean = {
    row += 1
    System.arraycopy(start, 0, state, 0, start.length)
    state(indexOfA) = Possible.only(Rational(row))
    state(indexOfB) = Possible.only(Rational(7))
    solver.narrow(state)
  }

  private val narrowed = solver.initial
  narrowed(indexOfA) = Possible.only(Rational(100))
  narrowed(indexOfB) = Possible.only(Rational(7))
  solver.narrow(narrowed)

  /** All ten nodes are computed from their arguments. */
  @Benchmark
  def upwardSweep(): Possible = {
    System.arraycopy(narrowed, 0, state, 0, narrowed.length)
    solver.forward(state)
  }

  /** Narrowed again, all ten nodes are computed and told of once, and nothing moves. */
  @Benchmark
  def sweepUpAndDown(): Boolean = {
    System.arraycopy(narrowed, 0, state, 0, narrowed.length)
    solver.narrow(state)
  }
}
