// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.DayTimeIntervalType

import plait.Side
import plait.spark.PlaitConf
import plait.stream.Lifetime

/** A row that still waits is older than its side's rows may become. */
final class StateTtlException(message: String) extends IllegalStateException(message)

object StateTtlException {
  def of(side: Side, lifetime: Lifetime): StateTtlException = new StateTtlException(
    s"A row of the ${side.name} side of a join of streams has waited longer than STATE_TTL says, " +
      s"${Literal(lifetime.length, DayTimeIntervalType()).sql}, and ${PlaitConf.OnLimit} is fail. Say a longer time, let rows leave " +
      "sooner (a condition that reaches less far, a watermark that is less behind), or set " +
      s"${PlaitConf.OnLimit}=evict: such rows are then forgotten, and counted."
  )
}
