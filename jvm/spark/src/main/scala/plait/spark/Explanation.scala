// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import plait.order.WhyNot
import plait.spark.side.SidePruning
import plait.{BySide, Side}

/** What became of the joins of a query. As a text, a few lines for each; as rows, two for each:
  *
  * {{{
  * SymmetricHashJoin Inner on k = k AND (t < t)
  *   left  ordered by t ASC, reaches t in (t, +inf), not pruned: no comparison ends ... [ENDLESS_REACH]
  *   right ordered by t ASC, reaches t in (-inf, t), pruned by (t < t)
  *
  * join                           node               side   prunedBy   whyNot.code    whyNot.arguments
  * SymmetricHashJoin Inner on ..  SymmetricHashJoin  left              ENDLESS_REACH  left, t
  * SymmetricHashJoin Inner on ..  SymmetricHashJoin  right  (t < t)
  * }}}
  *
  *   1. Each side has either what prunes it or a [[plait.order.WhyNot]].
  *   1. A join that is Spark's has the reason for it in both of its rows.
  *   1. Codes are stable. Sentences, and the words of a plan, are for people.
  */
final class Explanation(joins: Seq[ExplainedJoin]) {
  val sides: Seq[ExplainedSide] = joins.flatMap(_.sides)

  override def toString: String = joins.mkString("\n")

  /** The rows as an array of objects, `whyNot` in three fields: `code`, `arguments`, `sentence`. */
  def json: String = new ObjectMapper().writeValueAsString(sides.map(Explanation.fields).asJava)
}

object Explanation {
  private def fields(row: ExplainedSide) = {
    val pruned = row.prunedBy.map("prunedBy" -> _)
    val not = row.whyNot.toSeq.flatMap { why =>
      Seq("code" -> why.code, "arguments" -> why.arguments.asJava, "sentence" -> why.sentence)
    }
    val always =
      Seq("join" -> row.join, "node" -> row.node, "side" -> row.side.name, "text" -> row.text)
    (always ++ pruned ++ not).toMap[String, Any].asJava
  }
}

/** One side of a join: of [[prunedBy]] and [[whyNot]] it has one.
  *
  * @param text
  *   all that is told of it, its order and its reach too, in words
  */
final case class ExplainedSide(
    join: String,
    node: String,
    side: Side,
    prunedBy: Option[String],
    whyNot: Option[WhyNot],
    text: String
)

/** A join of a query, with its two rows; printed, its lines. */
sealed trait ExplainedJoin {
  def sides: Seq[ExplainedSide]
}

object ExplainedJoin {

  /** @param title the node, the type and the condition */
  final class Planned(title: String, node: String, pruning: BySide[SidePruning])
      extends ExplainedJoin {
    override def sides: Seq[ExplainedSide] = Side.both.map { side =>
      val by = pruning(side).prunedBy
      ExplainedSide(title, node, side, by.toOption, by.left.toOption, pruning(side).text)
    }
    override def toString: String =
      (title +: Side.both.map(side => f"  ${side.name}%-5s ${pruning(side)}")).mkString("\n")
  }

  final class LeftToSpark(title: String, node: String, why: WhyNot) extends ExplainedJoin {
    override def sides: Seq[ExplainedSide] =
      Side.both.map(ExplainedSide(title, node, _, None, Some(why), text))
    override def toString: String = s"$title\n  $text"
    private def text = s"left to Spark: $why"
  }
}
