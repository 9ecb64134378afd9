// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import scala.util.Try

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd

/** The plan that ran, of a query that has ended: an event has it in the driver's own process, for Spark alone. */
object EndedQuery {

  /** None of a query that was not planned, or of an event that was read from a log. */
  def plan(end: SparkListenerSQLExecutionEnd): Option[SparkPlan] =
    Option(end.qe).flatMap(query => Try(query.executedPlan).toOption)
}
