// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.Expression

import plait.Side
import plait.constraint.Term.{Opaque, Variable}
import plait.interval.{Domain, Possible}

/** Where the terms of a condition end: at what Spark computes for the rows of one side, and at what is
  * not understood.
  *
  * {{{
  * upper(l.name)             a variable: Spark computes it for each left row
  * l.a ^ r.b                 opaque, of both sides
  * my_udf(l.a)               opaque, of both sides: not to be computed apart from the condition
  * }}}
  */
trait Leaves {
  private var opaques = 0

  /** The variable for an expression over one side, if Spark can compute it for each row of it. */
  def leaf(expression: Expression): Option[Variable]

  /** The sides without whose rows an expression cannot be computed. */
  protected def sidesOf(expression: Expression): Set[Side]

  /** Two of them are two terms, as two calls of one function may differ. */
  final def opaque(expression: Expression): Opaque = {
    opaques += 1
    val domain = OrderedType.domain(expression.dataType)
    Opaque(
      s"?$opaques",
      sidesOf(expression),
      domain.getOrElse(Domain.Real),
      domain.fold(Possible.Anything)(_.all)
    )
  }
}
