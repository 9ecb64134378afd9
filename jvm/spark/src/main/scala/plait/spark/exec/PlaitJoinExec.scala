// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan}

import plait.spark.side.SidePruning
import plait.spark.translate.JoinedColumns
import plait.{BySide, Side}

/** A join node of Plait's: what of it is shown in EXPLAIN and told in reports. */
trait PlaitJoinExec extends BaseJoinExec {

  /** No part of the plan's identity. */
  def pruning: BySide[SidePruning]

  /** Once it has run: by which side the matches were found.
    * @param names
    *   of the sides, as the query wrote them
    * @param counted
    *   what its metrics, by their names, have come to
    */
  def found(names: BySide[String], counted: String => Long): String

  /** What holds of every pair that is joined, beyond the keys. */
  def ofPairs: Option[Expression] = condition

  protected def described(side: Side): String = pruning(side).text

  override def output: Seq[Attribute] =
    JoinedColumns.of(joinType, left.output, right.output)

  /** How a join of two sides that are dealt by key leaves its rows: those of a side that is filled up with
    * NULL stand where the other side's key is.
    */
  protected def dealtByKey: Partitioning = joinType match {
    case LeftOuter | LeftExistence(_) => left.outputPartitioning
    case RightOuter => right.outputPartitioning
    case FullOuter => UnknownPartitioning(left.outputPartitioning.numPartitions)
    case _ => PartitioningCollection(Seq(left.outputPartitioning, right.outputPartitioning))
  }

  final def input(side: Side): SparkPlan = if (side eq Side.Left) left else right

  override protected def stringArgs: Iterator[Any] =
    Iterator(leftKeys, rightKeys, joinType) ++ condition.iterator ++
      Side.both.map(side => s"${side.name} ${described(side)}")

  override def verboseStringWithOperatorId(): String =
    super.verboseStringWithOperatorId() + Side.both
      .map(side => ExplainUtils.generateFieldString(side.name.capitalize, described(side)))
      .mkString("", "\n", "\n")
}
