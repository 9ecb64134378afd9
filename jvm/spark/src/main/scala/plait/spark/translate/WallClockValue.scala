// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import java.time.{ZoneId, ZoneOffset}

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types.{DataType, TimestampNTZType}

/** What the clocks of a zone show at an instant, as Spark subtracts it:
  *
  * {{{
  * wall_clock(TIMESTAMP'2026-10-25 01:30:00Z'), Europe/Berlin      2026-10-25 02:30:00
  * the last instant there is, Europe/Berlin                        the last wall clock there is
  * }}}
  *
  * As `CAST(ts AS TIMESTAMP_NTZ)`, but that it never fails: Spark subtracts wall clocks that 64 bits
  * do not hold, and a row must not be lost for it. Beyond the ends it gives the end, which as an end
  * of a reach says nothing (see [[plait.order.Saturating]]).
  */
final case class WallClockValue(child: Expression, zone: ZoneId) extends UnaryExpression {
  override def dataType: DataType = TimestampNTZType
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "wall_clock"
  override def toString: String = s"wall_clock($child)"

  override protected def nullSafeEval(value: Any): Any =
    WallClockValue.of(value.asInstanceOf[Long], zone)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val at = ctx.addReferenceObj("zone", zone, classOf[ZoneId].getName)
    val own = WallClockValue.getClass.getName + ".MODULE$"
    defineCodeGen(ctx, ev, value => s"$own.of($value, $at)")
  }

  override protected def withNewChildInternal(newChild: Expression): WallClockValue =
    copy(child = newChild)
}

object WallClockValue {
  def of(micros: Long, zone: ZoneId): Long =
    try DateTimeUtils.convertTz(micros, ZoneOffset.UTC, zone)
    catch {
      case _: ArithmeticException => if (micros < 0) Long.MinValue else Long.MaxValue
    }
}
