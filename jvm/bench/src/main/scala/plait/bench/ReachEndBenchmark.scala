// SPDX-License-Identifier: Apache-2.0
package plait.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import plait.order.ReachEnd
import plait.order.ReachEnd.{Openness, WholeFormula}

/** What one end of a reach takes for a row; with `-prof gc`, that it allocates nothing.
  *
  * {{{
  * max(s - 7, s + t - 4) for a row's s and t
  * }}}
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
class ReachEndBenchmark {
  private val end = ReachEnd(
    ReachEnd.Low,
    Seq(
      WholeFormula(-7, Seq((0, 1)), Openness.Closed),
      WholeFormula(-4, Seq((0, 1), (1, 1)), Openness.Open)
    )
  )
  private val values = Array(0L, 60L)

  @Benchmark
  def at(): Long = {
    values(0) += 1
    end.at(values)
  }
}
