// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  Expression,
  Generator,
  WindowExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types._
import org.apache.spark.sql.{SparkSession, classic}
import org.apache.spark.unsafe.types.CalendarInterval

import plait.spark.plan._

/** Lays the windows of a call over its table, once the table and the columns are known; what the call gets
  * wrong is said here, at its place in the statement.
  *
  *   1. Where the call may be one of a table function of the user, and there is such a function, it is.
  *   1. Lengths and the offset are constants; months have no length.
  */
final class ResolveWindowedTable(session: SparkSession) extends Rule[LogicalPlan] {
  import ResolveWindowedTable._

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case WindowedTable(function, _, _, _, _, Some(instead), _) if isOfUser(function.name) =>
      instead.value
    case UnfitWindowCall(function, why, instead) =>
      if (isOfUser(function.name)) instead.value else throw why.value
    case call: WindowedTable if call.childrenResolved && call.expressions.forall(_.resolved) =>
      val shape = shapeOf(call)
      if (shape.isInstanceOf[WindowShape.Gapped] && call.child.isStreaming)
        throw ClauseError("SESSION is not supported yet on a stream", call.origin)
      call.keys.foreach(checkKey(call.function, _))
      laidOver(call, shape)
  }

  /** The window_time of windows below is computed first, and is no column that `*` selects here, either. */
  private def laidOver(call: WindowedTable, shape: WindowShape): LogicalPlan = call.time match {
    case computed: Alias if isTime(computed.toAttribute) =>
      val column = computed.toAttribute
      val table = Project(call.child.output :+ computed, call.child)
      new WindowLayout(column, call.child.output).laidOver(table, shape, call.keys)
    case _ =>
      new WindowLayout(timeColumn(call), call.child.output).laidOver(call.child, shape, call.keys)
  }

  private def isOfUser(name: String): Boolean = {
    val catalog = session.asInstanceOf[classic.SparkSession].sessionState.catalog
    catalog.lookupBuiltinOrTempTableFunction(name).isDefined ||
    catalog.isPersistentFunction(FunctionIdentifier(name))
  }

  private def timeColumn(call: WindowedTable): Attribute = call.time match {
    case column: Attribute if isTime(column) && call.child.outputSet.contains(column) => column
    case other =>
      val times = call.child.output.filter(isTime).map(_.name)
      val there = if (times.isEmpty) "has none" else s"has ${times.mkString(", ")}"
      throw ClauseError(
        s"${call.function.name} needs a column of timestamps, and ${other.sql} is of the type " +
          s"${other.dataType.sql}: its table $there",
        call.time.origin
      )
  }

  private def checkKey(function: WindowFunction, key: Expression): Unit =
    if (key.exists(isOfMoreThanARow))
      throw ClauseError(
        s"The keys of ${function.name} are computed from a row of its table alone, and ${key.sql} is not. Compute it in a query " +
          "below, and give the function its column",
        key.origin
      )

  private def isOfMoreThanARow(e: Expression): Boolean = e match {
    case _: AggregateExpression | _: WindowExpression | _: Generator => true
    case _ => false
  }

  private def isTime(column: Attribute): Boolean =
    column.dataType == TimestampType || column.dataType == TimestampNTZType

  private def shapeOf(call: WindowedTable): WindowShape = {
    val lengths = call.function.lengths.zip(call.lengths).map { case (name, written) =>
      val of = s"The $name of ${call.function.name}"
      val length = micros(of, written)
      if (length <= 0) throw ClauseError(s"$of must be more than zero", written.origin)
      if (length > Longest) throw ClauseError(s"$of must be ${atMost(written)}", written.origin)
      length
    }
    val offset = call.offset.fold(0L)(micros(s"The OFFSET of ${call.function.name}", _))
    call.function.shape(lengths, offset) match {
      case Right(shape) => shape
      case Left(why) => throw ClauseError(why, call.lengths.last.origin)
    }
  }

  private def micros(of: String, written: Expression): Long = {
    def fail(why: String) = throw ClauseError(s"$of must be $why", written.origin)
    (written.dataType, ClauseConstant.of(of, written)) match {
      case (_: DayTimeIntervalType, length: Long) => length
      case (CalendarIntervalType, length: CalendarInterval) if length.months == 0 =>
        try Math.addExact(Math.multiplyExact(length.days, Day), length.microseconds)
        catch { case _: ArithmeticException => fail(atMost(written)) }
      case (CalendarIntervalType | _: YearMonthIntervalType, _) =>
        fail("an interval of days or less: months differ in length")
      case (other, _) =>
        fail(s"an interval such as INTERVAL 5 MINUTES, not ${written.sql} of the type ${other.sql}")
    }
  }
}

object ResolveWindowedTable {
  private val Day = 86400000000L

  /** The years 1 to 9999 are so long, and with less no time of theirs leaves 64 bits. */
  private val LongestDays = 3652059
  private val Longest = LongestDays * Day

  private def atMost(written: Expression) =
    s"no more than $LongestDays days, which are all of the years 1 to 9999, but is ${written.sql}"
}
