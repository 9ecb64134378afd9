// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions._

import plait.spark.translate.BestMatch
import plait.spark.translate.SpelledById.areSame

/** What becomes of a pair of equal match values: the condition has to say, or refuses it in any case.
  *
  * {{{
  * NEAREST (l.ts, r.ts) ON l.ts <> r.ts AND l.v < r.v            Refused
  * NEAREST (l.ts, r.ts) ON l.v < r.v                             Asked
  * }}}
  *
  * It promises to find `<>` of the two match values as they are written, and no other form of it.
  */
sealed trait AtEqual
object AtEqual extends PredicateHelper {
  case object Refused extends AtEqual
  case object Asked extends AtEqual

  def of(accepts: Option[Expression], best: BestMatch): AtEqual = {
    val refused = accepts.toSeq.flatMap(splitConjunctivePredicates).exists {
      case Not(EqualTo(a, b)) =>
        areSame(a, best.left) && areSame(b, best.right) ||
        areSame(a, best.right) && areSame(b, best.left)
      case _ => false
    }
    if (refused) Refused else Asked
  }
}
