// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.Side

/** Why a join is not planned by Plait, or a side of it is not pruned: a code, its arguments and a
  * sentence. The code is stable; the sentence is for people.
  */
sealed abstract class WhyNot(val code: String, val sentence: String, val arguments: String*)
    extends Serializable {
  override def toString: String = s"$sentence [$code]"
}

object WhyNot {
  final case class TurnedOff(setting: String)
      extends WhyNot("TURNED_OFF", s"Plait is turned off by $setting", setting)

  final case class JoinTypeNotSupported(joinType: String)
      extends WhyNot(
        "JOIN_TYPE_NOT_SUPPORTED",
        s"$joinType joins are not supported",
        joinType
      )

  final case class StreamingInput()
      extends WhyNot(
        "STREAMING_INPUT",
        "a join of a stream with a table is not pruned yet, as its micro-batches are planned before their rows are known"
      )

  final case class NoComparison()
      extends WhyNot(
        "NO_COMPARISON",
        "the condition has no comparison (<, <=, >, >=, or an = beside those that the sides are hashed by) between " +
          "the sides of values whose order is known: numbers, times, intervals, strings of the binary collation"
      )

  final case class HintedOtherwise(hint: String)
      extends WhyNot(
        "HINTED_OTHERWISE",
        s"the query asks for another join with the hint $hint",
        hint
      )

  final case class NotDeterministic(condition: String)
      extends WhyNot(
        "NOT_DETERMINISTIC",
        s"the condition $condition is not deterministic",
        condition
      )

  final case class KeyNotHashable(key: String, dataType: String)
      extends WhyNot(
        "KEY_NOT_HASHABLE",
        s"equal values of the key $key of type $dataType may differ in their bytes",
        key,
        dataType
      )

  final case class NothingPruned(reasons: Seq[WhyNot])
      extends WhyNot(
        "NOTHING_PRUNED",
        "neither side can be pruned: " + reasons.map(_.sentence).mkString("; "),
        reasons.map(_.code): _*
      )

  /** The reach of the side's rows has no end that the other side's frontier could pass. */
  final case class EndlessReach(side: Side, order: String)
      extends WhyNot(
        "ENDLESS_REACH",
        s"no comparison ends the reach of a ${side.name} row in $order, so it is kept until the " +
          s"${side.other.name} side ends: bounds at both ends would end it, as in r.t BETWEEN l.t AND l.t + 5",
        side.name,
        order
      )

  /** Then there is nothing to prune, whatever the order. */
  final case class AllReached(facts: String)
      extends WhyNot(
        "ALL_REACHED",
        s"the condition holds for all rows of equal keys, so nothing can be pruned: by footers and filters $facts",
        facts
      )

  /** Of streams: nothing says how far the other side has come. */
  final case class NoFrontier(side: Side, order: String, remedy: Remedy)
      extends WhyNot(
        "NO_FRONTIER",
        s"nothing says that ${side.other.name} rows come in the order $order, so a ${side.name} row may always " +
          s"find one more: ${remedy.of(side.other)}, or declare the order with ORDERED",
        side.name,
        order
      )

  /** Of as-of joins of streams: what is matched falls along the order in which the other side comes. */
  final case class MatchFalls(side: Side, order: String)
      extends WhyNot(
        "MATCH_FALLS",
        s"${side.other.name} rows come in the order $order, along which what is matched may fall, so a ${side.name} row " +
          s"may always find one more: declare an order of the ${side.other.name} side along which it rises",
        side.name,
        order
      )

  /** Of streams: rows whose order has no value may come at any time, whatever the frontier. */
  final case class MatchesNull(side: Side, order: String)
      extends WhyNot(
        "MATCHES_NULL",
        s"a ${side.other.name} row whose $order is NULL may match a ${side.name} row whenever it comes: if there is none, " +
          s"say $order IS NOT NULL of the ${side.other.name} side, in its own WHERE or in ON",
        side.name,
        order
      )

  /** It is looked up in by rows that come in no order, so each of its rows may still be found. */
  final case class Collected(side: Side)
      extends WhyNot(
        "COLLECTED",
        s"every executor holds the whole ${side.name} side, and finds its rows by their intervals",
        side.name
      )

  /** Nearly half of all pairs lie in such reaches. */
  final case class OneSidedReach(side: Side, order: String)
      extends WhyNot(
        "ONE_SIDED_REACH",
        s"the condition bounds what a ${side.name} row reaches in $order at one end only, so an index " +
          "would leave about half of all pairs",
        side.name,
        order
      )

  /** Of a side that would be collected: nothing bounds what a row of the other looks for. */
  final case class NoInterval(side: Side, order: String)
      extends WhyNot(
        "NO_INTERVAL",
        s"the condition bounds what a ${side.name} row reaches in $order at neither end, or lets it match a row " +
          s"whose $order is NULL, so there is no interval to look for",
        side.name,
        order
      )

  /** It is known only then how many rows share a key. */
  final case class BroadcastFirst(side: Side)
      extends WhyNot(
        "BROADCAST_FIRST",
        s"Spark broadcasts the ${side.name} side first; if many of its rows then share a key, Plait " +
          "takes the join over while the query runs",
        side.name
      )

  /** Spark runs the join by it, for the reason that was given before. */
  final case class BroadcastAlready(side: Side)
      extends WhyNot(
        "BROADCAST_ALREADY",
        s"Spark has broadcast the ${side.name} side for a join of its own",
        side.name
      )

  /** Its join with a broadcast side drops partitions before they are read. */
  final case class PartitionsPruned(side: Side)
      extends WhyNot(
        "PARTITIONS_PRUNED",
        s"Spark's join finds by its broadcast which partitions of the ${side.name} side to read",
        side.name
      )

  final case class FewPartners(side: Side, partners: Long)
      extends WhyNot(
        "FEW_PARTNERS",
        s"a row has some $partners rows of the broadcast ${side.name} side to be compared with, too few " +
          "to look them up by an interval",
        side.name,
        partners.toString
      )

  /** `x NOT IN (SELECT y ...)`: each x is looked up, and one y that is NULL rules all of them out. */
  final case class NullAware()
      extends WhyNot(
        "NULL_AWARE",
        "Spark looks the column of NOT IN up in a broadcast of the subquery, and knows what NULL does"
      )

  /** There is no key to deal the rows of the sides to several tasks by. */
  final case class KeptInOneTask(why: WhyNot)
      extends WhyNot(
        "KEPT_IN_ONE_TASK",
        "the condition has no equality between the sides and cannot be cut into ranges; and in one task " +
          s"${why.sentence}",
        why.code
      )

  /** Of a join that is pruned there, for all that. */
  final case class NotInRanges(joinType: String, why: WhyNot)
      extends WhyNot(
        "NOT_IN_RANGES",
        s"the condition of this $joinType join has no equality between the sides and was not cut into ranges: $why",
        joinType,
        why.code
      )

  /** A row of one side may go to several ranges, and would be without a partner in some of them. */
  final case class BothPreserved()
      extends WhyNot(
        "BOTH_PRESERVED",
        "rows of both its sides come out without a partner, too, and those of one would go to several ranges"
      )

  final case class NoRanges()
      extends WhyNot(
        "NO_RANGES",
        "it gives the rows of a side whose partners may be sought in several ranges no interval of their own"
      )

  /** How far the rows of each range reach is found in a first reading, and must be true of the second. */
  final case class RowsMayDiffer(side: Side, part: String)
      extends WhyNot(
        "ROWS_MAY_DIFFER",
        s"its ${side.name} side would be read twice, and with $part the second time might give other rows",
        side.name,
        part
      )

  final case class RangesBelow(side: Side)
      extends WhyNot(
        "RANGES_BELOW",
        s"its ${side.name} side would be read twice, and holds a join in ranges itself",
        side.name
      )

  final case class FewPairs(pairs: Long)
      extends WhyNot(
        "FEW_PAIRS",
        s"the condition has no equality between the sides, and their some $pairs pairs are soon compared",
        pairs.toString
      )

  /** No formula says what a row reaches. */
  final case class FewPairsToSolve(pairs: Long)
      extends WhyNot(
        "FEW_PAIRS_TO_SOLVE",
        s"the condition has no equality between the sides, and their some $pairs pairs are compared sooner than " +
          "what each row reaches is solved",
        pairs.toString
      )

  /** Of an as-of join in ranges: what one range must know of the others would be more than a row. */
  final case class RefusesPairs(condition: String)
      extends WhyNot(
        "REFUSES_PAIRS",
        s"it has no equality, and $condition looks at both sides: which row of an earlier range is picked, " +
          "depends on who picks",
        condition
      )

  final case class UnrankedMatch(dataType: String)
      extends WhyNot(
        "UNRANKED_MATCH",
        s"it has no equality, and match values of type $dataType have no numbers by which they could be cut " +
          "into ranges",
        dataType
      )

  final case class OneMatchValue(value: String)
      extends WhyNot(
        "ONE_MATCH_VALUE",
        s"it has no equality, and all left rows have the match value $value",
        value
      )

  final case class CutsNotShared(setting: String)
      extends WhyNot(
        "CUTS_NOT_SHARED",
        s"both sides would be cut in different places, because $setting is false",
        setting
      )

  /** Where to cut would be found by computing both sides once more. */
  final case class CostlyCuts(values: String)
      extends WhyNot(
        "COSTLY_CUTS",
        s"it has no equality, and to know where to cut both sides would be computed once more, because $values " +
          "are of no table below them",
        values
      )

  final case class FewRows(rows: Long)
      extends WhyNot(
        "FEW_ROWS",
        s"it has no equality, and its some $rows rows are soon joined",
        rows.toString
      )

  /** Spark planned it in a session without Plait, or by a rule that comes before Plait's. */
  final case class NotAsked()
      extends WhyNot("NOT_ASKED", "Plait was not asked when the join was planned")

  /** Of streams: Spark's join has stored what waits, and Plait's cannot read it. */
  final case class CheckpointOfSpark()
      extends WhyNot(
        "CHECKPOINT_OF_SPARK",
        "the checkpoint of this query was made with Spark's own join; a new checkpoint would be one of Plait's"
      )

  /** It cannot be left to Spark half-way: a checkpoint is of one of the two joins. */
  final case class StreamNotPlanned(error: String)
      extends WhyNot(
        "STREAM_NOT_PLANNED",
        s"planning a join of streams failed: $error. With the hint NO_SYMMETRIC_HASH Spark runs it by a join of its own, if it has " +
          "one of that type, and from a new checkpoint",
        error
      )

  final case class PlanningFailed(error: String)
      extends WhyNot(
        "PLANNING_FAILED",
        s"Plait failed to plan the join, so Spark runs it; please report this error: $error",
        error
      )
}
