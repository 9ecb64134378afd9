// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}

/** How a listener hears of every job: in a queue of its own, as Spark drops what a slow one of a shared queue has no
  * room for. It shows in Spark's package only, as do the names by which a job keeps its tags.
  */
object JobListening {

  def add(context: SparkContext, listener: SparkListener): Unit =
    context.listenerBus.addToQueue(listener, "plait")

  def tags(start: SparkListenerJobStart): Seq[String] =
    Option(start.properties)
      .flatMap(p => Option(p.getProperty(SparkContext.SPARK_JOB_TAGS)))
      .toSeq
      .flatMap(_.split(SparkContext.SPARK_JOB_TAGS_SEP).toSeq)
}
