// SPDX-License-Identifier: Apache-2.0
package plait

import org.scalacheck.Test

/** How many cases a law is tried with: `quick` times 1, or 100 with `PLAIT_SOAK=1`. */
object Cases {
  val factor: Int = if (sys.env.get("PLAIT_SOAK").contains("1")) 100 else 1

  /** The same cases on every run; another seed with `PLAIT_SEED=n`. */
  val seed: Long = sys.env.get("PLAIT_SEED").fold(20260101L)(_.toLong)

  def parameters(count: Int): Test.Parameters =
    Test.Parameters.default.withMinSuccessfulTests(count * factor)
}
