// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.{Expression => Spark, _}

import plait.constraint.Term.Call
import plait.constraint.{Elementary, PowerOperation, Term}

/** Powers, roots, exponentials, logarithms, trigonometry: all of them from doubles to doubles.
  *
  * {{{
  * sqrt(l.x)        Call(sqrt, l.x)
  * pow(l.x, 2)      Call(pow, l.x, 2.0)
  * log(10, l.x)     Call(log, 10.0, l.x)
  * }}}
  */
final private[translate] class ElementaryTranslation(of: Spark => Term) {

  def translate: PartialFunction[Spark, Term] = Function.unlift {
    case Pow(x, exponent) => Some(Call(PowerOperation, of(x), of(exponent)))
    case Logarithm(base, x) => Some(Call(plait.constraint.Logarithm, of(base), of(x)))
    case e: UnaryExpression => name(e).map(n => Call(Elementary.named(n), of(e.child)))
    case _ => None
  }

  private def name(e: UnaryExpression): Option[String] = e match {
    case _: Sqrt => Some("sqrt")
    case _: Cbrt => Some("cbrt")
    case _: Exp => Some("exp")
    case _: Expm1 => Some("expm1")
    case _: Log => Some("ln")
    case _: Log2 => Some("log2")
    case _: Log10 => Some("log10")
    case _: Log1p => Some("log1p")
    case _: Sin => Some("sin")
    case _: Cos => Some("cos")
    case _: Tan => Some("tan")
    case _: Asin => Some("asin")
    case _: Acos => Some("acos")
    case _: Atan => Some("atan")
    case _: Sinh => Some("sinh")
    case _: Cosh => Some("cosh")
    case _: Tanh => Some("tanh")
    case _: ToDegrees => Some("degrees")
    case _: ToRadians => Some("radians")
    case _ => None
  }
}
