// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import java.time.{LocalDateTime, ZoneId, ZoneOffset}

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  BinaryExpression,
  Expression,
  TimeZoneAwareExpression
}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types._

/** The last instant of a window: that of all instants before its end by the wall clock which is the latest.
  *
  * {{{
  * max { instant | wall clock at instant < end }                                     Europe/Berlin
  * end 2026-03-01 10:05:00        2026-03-01 09:04:59.999999Z
  * end 2024-10-27 02:30:00        2024-10-27 01:29:59.999999Z     02:30 comes twice: the second time
  * end 2024-03-31 02:30:00        2024-03-31 00:59:59.999999Z     02:30 is left out: the clock jumps from 02:00
  * }}}
  *
  *   1. It is never before the time of a row of the window, wherever the clocks are put; so where later rows
  *      are after a watermark, the last instants of their windows are, too. The column of it is an event time.
  *   1. Later ends have no earlier last instants; two ends have the same only if no row can tell them apart.
  *   1. It is NULL where the end is.
  *
  * @param end
  *   where the window ends, in microseconds of the wall clock
  * @param time
  *   the event time of the row, of which the value follows in no way: rules may ask for it
  * @param of
  *   the edge that it follows from
  * @param span
  *   no row of the window is so many microseconds of the wall clock before its end, or more
  */
final case class WindowLast(
    end: Expression,
    time: Expression,
    of: WindowEdge.End,
    span: Long,
    timeZoneId: Option[String] = None
) extends BinaryExpression
    with TimeZoneAwareExpression {
  override def left: Expression = end
  override def right: Expression = time
  override def dataType: DataType = TimestampType
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "window_last"
  override def withTimeZone(id: String): WindowLast = copy(timeZoneId = Some(id))

  /** It as a column, an event time as `marked` is, which it is of. */
  def columnOf(marked: Attribute): Alias =
    Alias(this, prettyName)(explicitMetadata = Some(WindowLast.metadata(marked)))

  override protected def nullSafeEval(end: Any, time: Any): Any =
    WindowLast.of(end.asInstanceOf[Long], zoneId)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val zone = ctx.addReferenceObj("zone", zoneId, classOf[ZoneId].getName)
    val own = WindowLast.getClass.getName + ".MODULE$"
    defineCodeGen(ctx, ev, (end, _) => s"$own.of($end, $zone)")
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): WindowLast = copy(end = newLeft, time = newRight)
}

object WindowLast {
  private val Key = "plait.window.last"
  private val Second = 1000000L

  /** What a column of it says, beside that it is the event time that `time` is. */
  private def metadata(time: Attribute): Metadata = new MetadataBuilder()
    .putLong(EventTimeWatermark.delayKey, time.metadata.getLong(EventTimeWatermark.delayKey))
    .putBoolean(Key, value = true)
    .build()

  def isColumn(column: Attribute): Boolean = column.metadata.contains(Key)

  /** @param end
    *   in microseconds of the wall clock; where 64 bits do not hold the instant it is the nearest that they do
    */
  def of(end: Long, zone: ZoneId): Long = {
    val last = if (end == Long.MinValue) end else end - 1
    val seconds = Math.floorDiv(last, Second)
    val clock = LocalDateTime.ofEpochSecond(seconds, 0, ZoneOffset.UTC)
    val rules = zone.getRules
    val offsets = rules.getValidOffsets(clock)
    // Offsets of a clock that comes twice are in the sequence in which they hold.
    if (offsets.isEmpty) rules.getTransition(clock).toEpochSecond * Second - 1
    else minus(last, offsets.get(offsets.size - 1).getTotalSeconds * Second)
  }

  private def minus(a: Long, b: Long): Long =
    try Math.subtractExact(a, b)
    catch { case _: ArithmeticException => if (b < 0) Long.MaxValue else Long.MinValue }
}
