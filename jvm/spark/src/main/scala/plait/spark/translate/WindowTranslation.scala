// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}
import org.apache.spark.sql.types.LongType

import plait.constraint.Term.Call
import plait.constraint.{Arithmetic, Overflow, Term}
import plait.interval.CalendarOperation.From
import plait.interval.StepOperation.Floor
import plait.interval.{Domain, IntervalSet, Rational}

/** The start of the window that holds an instant, as Spark's analyzer writes `window(t, '10 minutes')`.
  *
  * {{{
  * t - CASE WHEN (t - s) % d < 0 THEN (t - s) % d + d ELSE (t - s) % d END       floor to d from s
  * }}}
  *
  * With an `s` from 0 to d its differences wrap around, or fail, only for the first instants of the
  * type; what becomes of those is less than four windows from either end of it. Not where they TRY,
  * and become NULL instead: the analyzer writes none such.
  */
final private[translate] class WindowTranslation(of: Spark => Term) {
  import WindowTranslation._

  def translate: PartialFunction[Spark, Term] = { case Start(t, start, length) =>
    val floor = Floor(Rational(length), Rational(start))
    val margin = Rational(4) * Rational(length)
    val (low, high) = (Rational(Long.MinValue) + margin, Rational(Long.MaxValue) - margin)
    val early = IntervalSet.atMost(low).union(IntervalSet.atLeast(high))
    Call(Arithmetic(From(low, floor, early), Domain.Long, Domain.Long, Overflow.Fails), of(t))
  }
}

private object WindowTranslation {

  /** An instant, where some window begins, and how long each is. */
  private object Start {
    def unapply(e: Spark): Option[(Spark, Long, Long)] = e match {
      case difference @ Subtract(
            t,
            CaseWhen(Seq((LessThan(a, Number(0)), sum @ Add(b, Number(d), _))), Some(c)),
            _
          )
          if !Seq(difference, sum).exists(tries) && Seq(b, c).forall(a.semanticEquals(_)) &&
            t.dataType == LongType =>
        c match {
          case Remainder(since @ Subtract(u, Number(s), _), Number(length), _)
              if !tries(since) && t.semanticEquals(u) && length == d && 0 <= s && s < d =>
            Some((t, s, d))
          case _ => None
        }
      case _ => None
    }

    private def tries(e: BinaryArithmetic) = e.evalMode == EvalMode.TRY
  }

  private object Number {
    def unapply(e: Spark): Option[Long] = e match {
      case Literal(x: Number, _) => Some(x.longValue)
      case Cast(Number(x), LongType, _, _) => Some(x)
      case _ => None
    }
  }
}
