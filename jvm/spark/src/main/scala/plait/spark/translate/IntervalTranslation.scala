// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types.{DataType, DecimalType, NumericType}

import plait.constraint.Term.Call
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.Detour.Near
import plait.interval.FieldOperation.{Divide, Same, Times}
import plait.interval.StepOperation.RoundedQuotient
import plait.interval.{Domain, RealOperation}
import plait.spark.translate.IntervalCasts.{lost, nearest}
import plait.spark.translate.OrderedType.Integers

/** Intervals times and divided by numbers.
  *
  * {{{
  * i * 3      Call(*, i, 3)                                  exact, or an error
  * i / 2      Call(rounded /, i, 2)                          the middle away from 0
  * i * 0.5D   Call(round, Call(* of double, i, 0.5))         i as a double first
  * i * 0.5    Call(round, Call(nearly *, i, 0.5))            a decimal of 39 digits on the way
  * }}}
  */
final private[translate] class IntervalTranslation(of: Spark => Term) {

  def translate: PartialFunction[Spark, Term] = {
    case e @ MultiplyDTInterval(i, n) if isKnown(n.dataType) => calculated(e, i, n, Times, Times)
    case e @ MultiplyYMInterval(i, n) if isKnown(n.dataType) => calculated(e, i, n, Times, Times)
    case e @ DivideDTInterval(i, n) if isKnown(n.dataType) =>
      calculated(e, i, n, RoundedQuotient, Divide)
    case e @ DivideYMInterval(i, n) if isKnown(n.dataType) =>
      calculated(e, i, n, RoundedQuotient, Divide)
  }

  private def isKnown(number: DataType): Boolean = number match {
    case _: NumericType => true
    case _ => false
  }

  private def calculated(
      e: Spark,
      i: Spark,
      n: Spark,
      whole: RealOperation,
      exact: RealOperation
  ): Term = n.dataType match {
    case Integers() => call(whole, domain(i), domain(e), of(i), of(n))
    case _: DecimalType =>
      val result = call(Near(exact, lost), Domain.Real, Domain.Real, of(i), of(n))
      call(nearest, Domain.Real, domain(e), result)
    case _ =>
      val asDoubles = Seq(i, n).map(x => call(Same, domain(x), Domain.Double, of(x)))
      val result = call(exact, Domain.Double, Domain.Double, asDoubles: _*)
      call(nearest, Domain.Double, domain(e), result)
  }

  private def call(operation: RealOperation, from: Domain, to: Domain, arguments: Term*): Term =
    Call(Arithmetic(operation, from, to, Overflow.Fails), arguments: _*)

  private def domain(e: Spark): Domain = OrderedType.domain(e.dataType).get
}
