// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import scala.reflect.ClassTag

import org.apache.hadoop.conf.Configuration
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.{ContextCleaner, SparkConf, SparkContext}
import org.objenesis.ObjenesisStd

/** What Spark's join of streams takes for the context while it is being made.
  *
  * {{{
  * planning of a micro-batch      ten copies of the node, one for each rule that changes it
  * a copy                         serializes all of Hadoop's settings and stores them to be sent: 8 milliseconds
  * a copy of Plait's              nothing: what would be sent is read by the execution that Plait's replaces
  * }}}
  *
  * The constructor asks the context for these three alone; whatever else it may ask in a later Spark fails at once.
  * That of a context is not run: it would start a second one.
  *
  * It lives in Spark's package because who cleans up after metrics is visible only there.
  */
final private class UnsentSettings extends SparkContext(new SparkConf(false)) {
  override def hadoopConfiguration: Configuration = UnsentSettings.none
  override def broadcast[T: ClassTag](value: T): Broadcast[T] = null
  override private[spark] def cleaner: Option[ContextCleaner] =
    SparkContext.getActive.flatMap(_.cleaner)
}

object UnsentSettings {
  private lazy val none = new Configuration(false)

  lazy val context: SparkContext = new ObjenesisStd().newInstance(classOf[UnsentSettings])
}
