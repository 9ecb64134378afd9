// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf

import plait.spark.PlaitConf
import plait.spark.plan.AsOfJoin

/** Refuses settings of Plait's whose value is none, and warns, once for each, of settings that are none of Plait's and are
  * written as if they were. Spark keeps whatever is set.
  */
object SettingsCheck extends (LogicalPlan => Unit) with Logging {
  private val told = ConcurrentHashMap.newKeySet[String]()

  override def apply(plan: LogicalPlan): Unit =
    if (plan.exists(node => node.isInstanceOf[Join] || node.isInstanceOf[AsOfJoin])) {
      for {
        key <- SQLConf.get.getAllConfs.keys
        sentence <- PlaitConf.unknown(key)
        if told.add(key)
      } logWarning(sentence)
      val settings = PlaitConf(SQLConf.get)
      if (settings.enabled) settings.check()
    }
}
