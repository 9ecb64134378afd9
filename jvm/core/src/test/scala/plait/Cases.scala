// SPDX-License-Identifier: Apache-2.0
package plait

import org.scalacheck.Test
import org.scalacheck.rng.Seed

/** How many cases a law is tried with: so many as it says, n times that with `PLAIT_SOAK=n`, at most
  * n with `PLAIT_CASES=n`.
  */
object Cases {
  val factor: Int = sys.env.get("PLAIT_SOAK").fold(1)(_.toInt)

  private val most: Int = sys.env.get("PLAIT_CASES").fold(Int.MaxValue)(_.toInt)

  /** The same cases on every run; another seed with `PLAIT_SEED=n`. */
  val seed: Long = sys.env.get("PLAIT_SEED").fold(20260101L)(_.toLong)

  def parameters(count: Int): Test.Parameters =
    Test.Parameters.default
      .withMinSuccessfulTests(math.min(count * factor, most))
      .withInitialSeed(Seed(seed))
}
