// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers

/** Keys whose bytes are equal where Spark holds them equal: -0.0 and 0.0, all NaNs, in structs and arrays
  * too. Spark does so for its own joins, by a function that shows only in its package.
  */
object FloatingKeys {
  def normalized(key: Expression): Expression = NormalizeFloatingNumbers.normalize(key)
}
