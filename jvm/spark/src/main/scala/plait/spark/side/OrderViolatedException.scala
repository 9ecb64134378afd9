// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.SparkThrowable

/** A row came against the order that was declared of its relation. Spark hands an error with a
  * condition on to the caller as it is, and Python knows this kind.
  *
  * @param orElse
  *   what can be done if neither the data nor the declaration is to be mended
  */
final class OrderViolatedException(
    relation: String,
    order: String,
    value: String,
    after: String,
    orElse: String
) extends IllegalArgumentException(
      s"[${OrderViolatedException.Condition}] The rows of $relation are declared to come in the order $order, " +
        s"but $value $after. Mend the data or the declaration (the hint ORDERED, the table property " +
        s"plait.ordered-by), or $orElse."
    )
    with SparkThrowable {
  override def getCondition: String = OrderViolatedException.Condition
}

object OrderViolatedException {
  val Condition = "ORDER_VIOLATED"
}
