// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}

/** A row as Spark's bytes: the very row if it is that already, else a copy, valid until the next. */
final class AsUnsafe(output: Seq[Attribute]) {
  // Most rows are that, and a projection is compiled.
  private lazy val copyOf = UnsafeProjection.create(output, output)

  def apply(row: InternalRow): UnsafeRow = row match {
    case unsafe: UnsafeRow => unsafe
    case other => copyOf(other)
  }
}
