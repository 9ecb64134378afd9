// SPDX-License-Identifier: Apache-2.0
package plait

import scala.concurrent.duration.Duration

import munit.ScalaCheckSuite
import org.scalacheck.Test
import org.scalacheck.rng.Seed

/** How many random cases a test tries: each says a number for `make test`, and one for `make soak`,
  * which sets `PLAIT_SOAK`.
  *
  * {{{
  * Cases.of(200000, soak = 10000000)      joins of an oracle
  * }}}
  */
object Cases {
  private val isSoak = sys.env.contains("PLAIT_SOAK")

  def of(test: Int, soak: Int): Int = if (isSoak) soak else test

  /** Of `make quick` and `make mutants`, which try a law with fewer cases: `PLAIT_CASES=n`. */
  private[plait] val most: Int = sys.env.get("PLAIT_CASES").fold(Int.MaxValue)(_.toInt)

  /** The same cases on every run; others with `PLAIT_SEED=n`. */
  val seed: Long = sys.env.get("PLAIT_SEED").fold(20260101L)(_.toLong)

  /** Longer than any test takes in `make soak`; one that has no end is to be seen. */
  val longest: Duration = Duration(if (isSoak) 180 else 20, "min")
}

/** Laws, each tried with so many random cases. */
abstract class LawSuite(test: Int = 20000, soak: Int = 200000) extends ScalaCheckSuite {
  override val munitTimeout: Duration = Cases.longest

  override def scalaCheckTestParameters: Test.Parameters =
    Test.Parameters.default
      .withMinSuccessfulTests(math.min(Cases.of(test, soak), Cases.most))
      .withInitialSeed(Seed(Cases.seed))
}
