// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types._

import plait.constraint.Term.{Call, Constant}
import plait.constraint.{Arithmetic, Compared, Comparison, Overflow, Term}
import plait.interval.FieldOperation.{Divide => Divided, Same}
import plait.interval.StepOperation.{FloorQuotient, ToZero}
import plait.interval.{Domain, Rational, RealOperation}
import plait.spark.translate.OrderedType.{Fractions, Integers}

/** Casts whose result is a function of the number.
  *
  * {{{
  * int to bigint, decimal(5, 2) to decimal(7, 2)     the same
  * bigint to int                                     the same; ANSI fails, legacy wraps
  * bigint to double                                  the nearest
  * double to int                                     to zero; legacy saturates
  * timestamp to bigint                               floor to seconds
  * }}}
  *
  * Not known, and so no bound: casts of strings; of floating numbers to decimals, which go through
  * their shortest text; of decimals to float, which are rounded twice; intervals to numbers.
  */
final private[translate] class CastTranslation(of: Spark => Term) {

  def translate: PartialFunction[Spark, Term] = {
    case Cast(c, to, _, _) if c.dataType == to => of(c)
    case Cast(c, to, _, mode) if isNumber(c.dataType, to) => number(c, to, mode)
    case Cast(c, to: DayTimeIntervalType, _, _) if OrderedType.widens(c.dataType, to) => of(c)
    case Cast(c, to, _, mode) if c.dataType == TimestampType && isSeconds(to) =>
      seconds(c, to, mode)
    case Cast(c, TimestampType, _, _) if Integers.unapply(c.dataType) =>
      val times = plait.interval.FieldOperation.Times
      Call(Arithmetic(times, Domain.Long, Domain.Timestamp, Overflow.Saturates), of(c), second)
  }

  private def domain(dataType: DataType): Domain = OrderedType.domain(dataType).get

  private def isNumeric(dataType: DataType): Boolean = dataType.isInstanceOf[NumericType]

  private def isNumber(from: DataType, to: DataType): Boolean = (from, to) match {
    case (Fractions(), _: DecimalType) => from.isInstanceOf[DecimalType]
    case (_: DecimalType, FloatType) => false
    // A legacy cast goes by way of int there.
    case (DoubleType | FloatType, ByteType | ShortType) => false
    case (BooleanType, _: NumericType) | (_: NumericType, BooleanType) => true
    case _ => isNumeric(from) && isNumeric(to)
  }

  private def number(c: Spark, to: DataType, mode: EvalMode.Value): Term =
    (c.dataType, to) match {
      case (from @ Integers(), Integers()) if from.defaultSize <= to.defaultSize => of(c)
      case (_: NumericType, BooleanType) =>
        Call(Compared(Comparison.NotEqual), of(c), Constant(0))
      case (Fractions(), Integers()) =>
        call(ToZero(Rational.One), c, to, overflow(c.dataType, to, mode))
      case (from, _) => call(Same, c, to, overflow(from, to, mode))
    }

  private def call(operation: RealOperation, c: Spark, to: DataType, overflow: Overflow): Term =
    Call(Arithmetic(operation, domain(c.dataType), domain(to), overflow), of(c))

  private def overflow(from: DataType, to: DataType, mode: EvalMode.Value): Overflow =
    (from, to, mode) match {
      case (_, DoubleType | FloatType, _) => Overflow.Fails
      case (_, _, EvalMode.ANSI) => Overflow.Fails
      case (_, _, EvalMode.TRY) => Overflow.GivesNull
      case (DoubleType | FloatType, Integers(), _) => Overflow.Saturates
      case (_, Integers(), _) => Overflow.Wraps
      case _ => Overflow.GivesNull
    }

  private def isSeconds(to: DataType): Boolean = to match {
    case Integers() | DoubleType => true
    case _ => false
  }

  /** In microseconds. */
  private val second = Constant(1000000)

  private def seconds(c: Spark, to: DataType, mode: EvalMode.Value): Term = to match {
    case LongType => Call(floor(Domain.Long, Overflow.Fails), of(c))
    case Integers() =>
      val overflow = if (mode == EvalMode.ANSI) Overflow.Fails else Overflow.GivesNull
      Call(floor(domain(to), overflow), of(c))
    case _ =>
      // Rounded once as a double, and once more as a quotient.
      val asDouble = Call(Arithmetic(Same, Domain.Timestamp, Domain.Double, Overflow.Fails), of(c))
      Call(Arithmetic(Divided, Domain.Double, Domain.Double, Overflow.Fails), asDouble, second)
  }

  private def floor(to: Domain, overflow: Overflow) =
    Arithmetic(FloorQuotient(Rational(second.value)), Domain.Timestamp, to, overflow)
}
