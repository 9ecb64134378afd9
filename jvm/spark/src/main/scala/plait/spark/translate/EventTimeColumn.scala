// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.MetadataBuilder

/** A column that says in its metadata that it is an event time with a watermark. */
object EventTimeColumn {

  /** The same column, of which that is not said. */
  def unmarked(column: Attribute): Attribute =
    if (!column.metadata.contains(EventTimeWatermark.delayKey)) column
    else
      column.withMetadata(
        new MetadataBuilder()
          .withMetadata(column.metadata)
          .remove(EventTimeWatermark.delayKey)
          .build()
      )
}
