// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions._

/** How an expression is told from others: equal spellings, equal values.
  *
  * {{{
  * t.a + b              #3 + #4
  * u.b + a              #3 + #4          columns go by their ids, two summands in either sequence
  * (a + b) + c          (#3 + #4) + #5
  * a + (b + c)          #3 + (#4 + #5)   of doubles, another number: 1e20 + -1e20 + 3 is 3 or 0
  * try_add(a, b) + c    not a + b + c    it may be NULL where the other fails
  * }}}
  *
  * Spark's canonical form is for plans, and puts the last three, and more, in one: it sorts all summands of nested
  * sums, whatever their types and modes are. What it sees as equal and this does not costs a bound that could have been
  * tighter, and never a row.
  */
final private[spark] class SpelledById {
  // By object: equality of expressions looks at all of them.
  private val known = new IdentityHashMap[Expression, Expression]

  def apply(expression: Expression): Expression = {
    val found = known.get(expression)
    if (found != null) found
    else {
      val spelling = inSequence(expression match {
        case attribute: AttributeReference => attribute.canonicalized
        case other => other.mapChildren(apply)
      })
      known.put(expression, spelling)
      spelling
    }
  }

  private def inSequence(spelling: Expression): Expression = spelling match {
    case Add(l, r, context) if isAfter(l, r) => Add(r, l, context)
    case Multiply(l, r, context) if isAfter(l, r) => Multiply(r, l, context)
    case other => other
  }

  private def isAfter(l: Expression, r: Expression): Boolean =
    l.dataType == r.dataType && l.hashCode > r.hashCode
}

private[spark] object SpelledById {
  def areSame(one: Expression, other: Expression): Boolean = {
    val spelled = new SpelledById
    spelled(one) == spelled(other)
  }
}
