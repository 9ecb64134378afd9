// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.util.ThreadUtils

/** Work of the driver that waits for others, some of it at once. Spark's own pool for it shows in Spark's package
  * only.
  */
object InParallel {
  def each[A, B](of: Seq[A], name: String, threads: Int)(work: A => B): Seq[B] =
    if (of.sizeIs < 2) of.map(work)
    else ThreadUtils.parmap(of, name, math.min(threads, of.size))(work)
}
