// SPDX-License-Identifier: Apache-2.0
package plait

import org.scalacheck.Test
import org.scalacheck.rng.Seed

/** How many cases a law is tried with: so many as it says, 100 times that with `PLAIT_SOAK=1`, at
  * most n with `PLAIT_CASES=n`.
  */
object Cases {
  val factor: Int = if (sys.env.get("PLAIT_SOAK").contains("1")) 100 else 1

  private val most: Int = sys.env.get("PLAIT_CASES").fold(Int.MaxValue)(_.toInt)

  /** The same cases on every run; another seed with `PLAIT_SEED=n`. */
  val seed: Long = sys.env.get("PLAIT_SEED").fold(20260101L)(_.toLong)

  def parameters(count: Int): Test.Parameters =
    Test.Parameters.default
      .withMinSuccessfulTests(math.min(count * factor, most))
      .withInitialSeed(Seed(seed))
}
