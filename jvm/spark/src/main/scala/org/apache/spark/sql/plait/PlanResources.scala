// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.execution.SparkPlan

/** What operators of the running task hold, as a sort its rows, while they have not been read to their end. A join that needs
  * no more of them gives it back at once: one task may run many joins. It shows in Spark's package only.
  */
object PlanResources {
  def giveBack(plans: Seq[SparkPlan]): Unit = plans.foreach(_.cleanupResources())
}
