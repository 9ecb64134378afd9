// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions

/** A join with the partitions taken from its sides that the filters there rule out: until then a partitioned table of
  * the catalog has no size, unless it was analyzed, and counts as large.
  *
  * {{{
  * Filter(day = 5, events)      size unknown      =>      Filter(day = 5, events of one folder)      2 MB
  * }}}
  *
  * Spark does so itself, but after the last rule that an extension can add before adaptive execution. It stands in this
  * package because Spark's rule does not show outside of it.
  */
object PrunedPartitions {
  def of(join: Join): Join =
    join.copy(
      left = PruneFileSourcePartitions(join.left),
      right = PruneFileSourcePartitions(join.right)
    )
}
