// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  BinaryComparison,
  EqualNullSafe,
  EqualTo,
  Expression,
  IsNull,
  PredicateHelper,
  RowOrdering
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage

import plait.constraint.{Compare, Term}
import plait.order.{CaseReach, SolvedReach}
import plait.spark.translate.{CaseReachEnds, ConditionTranslation, TermTranslation}
import plait.{BySide, Side}

/** The condition of a join in the core's terms, with what holds for all rows of each side by the
  * filters below it.
  *
  * {{{
  * l.s <= r.s AND l.a <> r.b, l.s > 0 below       across (l.s <= r.s)      below left (l.s > 0)
  * }}}
  *
  * One instance serves one join: the translations remember where a term came from.
  *
  * @param equalities
  *   of the keys that are hashed: no order is taken from them, but they say more of an order that
  *   they name (`date(l.t) = date(r.t)`)
  * @param footers
  *   what the files that a side is read from say of its columns where they are not NULL
  */
final class JoinCondition(
    val expression: Expression,
    val children: BySide[LogicalPlan],
    equalities: Seq[Expression] = Nil,
    footers: BySide[Seq[FooterFact]] = BySide(Nil, Nil)
) extends PredicateHelper {
  val translation = new TermTranslation(children.map(_.outputSet))
  val whole = new ConditionTranslation(translation)

  private def compared(conjuncts: Seq[Expression]): Seq[(Compare, Expression)] =
    conjuncts.flatMap(c => translation.compare(c).map(_ -> c))

  private val acrossWithSource = compared(splitConjunctivePredicates(expression))
  private val filters = children.map(holding)
  private val filtersWithSource = filters.map(compared)
  private val footersWithSource = BySide.make(side => compared(footers(side).flatMap(_.ends)))

  /** Those of its conjuncts that are comparisons. */
  val across: Seq[Compare] = acrossWithSource.map(_._1).distinct

  /** What holds of each side alone, by the filters below it. */
  val below: BySide[Seq[Compare]] = filtersWithSource.map(_.map(_._1))

  /** And by the footers of its files. A comparison that finds NULL never holds, so it may be left out of account
    * that they say nothing of NULL.
    */
  val belowAndInFiles: BySide[Seq[Compare]] =
    BySide.make(side => below(side) ++ footersWithSource(side).map(_._1))

  /** How the query wrote a comparison. */
  val conjunctOf: Compare => String = (acrossWithSource ++ Side.both.flatMap { side =>
    footersWithSource(side) ++ filtersWithSource(side)
  }).toMap.andThen(_.toString)

  /** The conjunct that a comparison of both sides is. */
  val sourceOf: Map[Compare, Expression] = acrossWithSource.toMap

  /** Is it one comparison of a value of the one side with a value of the other? What a row reaches has one end then,
    * whatever is sorted by and whatever is known of either side.
    */
  def isOneEnded: Boolean = expression match {
    case _: EqualTo | _: EqualNullSafe => false
    case BinaryComparison(one, other) =>
      telling.isEmpty && Side.both.exists { side =>
        isOf(one, side) && isOf(other, side.other)
      }
    case _ => false
  }

  private def isOf(value: Expression, side: Side): Boolean =
    value.references.nonEmpty && value.references.subsetOf(children(side).outputSet)

  /** What holds for every row of a side. Adaptive execution hides the plan of a side that it has run; the very plan that was
    * asked before it ran knows the answer still, where a copy would work it out anew after each stage.
    */
  private def holding(side: LogicalPlan): Seq[Expression] = {
    val shown = side match {
      case LogicalQueryStage(logical, _) => logical
      case other => other
    }
    shown.constraints.toSeq.filter(f => f.deterministic && f.references.nonEmpty)
  }

  /** The whole of it, with what the filters below the *other* side say of that. */
  def termFor(side: Side): Term =
    whole.term(filters(side.other).foldLeft(withEqualities)(And(_, _)))

  /** And with what the footers of its files say. */
  def termForFiles(side: Side): Term = {
    val facts = filters(side.other) ++ footers(side.other).map(_.holding)
    whole.term(facts.foldLeft(withEqualities)(And(_, _)))
  }

  /** From what is known most to nothing that is: of a guess from likely rows nothing is left where files or filters
    * rule those out, as do files of one day.
    */
  def termsToGuessBy: Seq[Side => Term] =
    Seq(termForFiles, termFor, _ => termAlone)

  /** The whole of it, without what is known of the sides. */
  def termAlone: Term = whole.term(withEqualities)

  /** The condition, with the equalities that tell more of it. */
  lazy val withEqualities: Expression = telling.foldLeft(expression)(And(_, _))

  /** What the cases of the condition say of a reach.
    *
    * @param known
    *   what holds of the other side
    */
  def byCases(reach: SolvedReach, known: Seq[Compare]): CaseReachEnds = {
    val side = reach.side
    // A row with an order value is not reached by a case that asks for none.
    val cases = allCases.filterNot(_.exists {
      case IsNull(value) => whole.source(reach.order).exists(_.semanticEquals(value))
      case _ => false
    })
    CaseReachEnds(
      CaseReach.of(side, reach.order, cases.map(_.flatMap(translation.compare(_))), known),
      cases.map(_.filter(c => isOf(c, side) && translation.isComputable(c))),
      cases.map(_.filter(isAcross)),
      translation,
      if (reach.mayMatchNull) CaseReachEnds.NullAlone else CaseReachEnds.Dead
    )
  }

  private lazy val allCases = new ConditionCases(isAcross).of(withEqualities)

  /** Is it about both sides? */
  private def isAcross(conjunct: Expression): Boolean = areOfBoth(conjunct.references)

  private def areOfBoth(columns: AttributeSet): Boolean =
    Side.both.forall(side => columns.exists(children(side).outputSet.contains))

  /** The equalities that name a column of each side that the condition names too. */
  private lazy val telling = equalities.filter { equality =>
    areOfBoth(equality.references.intersect(expression.references))
  }

  /** What it holds of a side and that can be sorted by, columns first: they may come sorted. */
  def sortable(side: Side): Seq[Term] = {
    val largest = whole.oneSided(whole.term(expression), side)
    val columns =
      largest.flatMap(_.nodes).filter(t => whole.source(t).exists(_.isInstanceOf[Attribute]))
    (columns ++ largest).distinct.filter(t =>
      whole.source(t).exists(s => RowOrdering.isOrderable(s.dataType))
    )
  }
}
