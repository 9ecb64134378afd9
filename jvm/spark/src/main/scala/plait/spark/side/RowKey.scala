// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The key of a row as [[HashKeyTable]] looks it up: by `keyValue` if it fits a long
  * ([[KeyForm.Whole]]), else by the bytes of `key`. Valid until the next row.
  */
abstract class RowKey {
  final var key: UnsafeRow = _
  final var keyValue: Long = 0
}
