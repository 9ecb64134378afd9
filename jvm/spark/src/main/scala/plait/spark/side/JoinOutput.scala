// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  GenericInternalRow,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.types.{BooleanType, DataType, StructField, StructType}

import plait.join.Role
import plait.{BySide, Side}

/** The rows that come out of a join of one type: for a pair that matches, and for a row alone.
  *
  * {{{
  *                 pair (l, r)      left row alone      right row alone
  * INNER           l, r             -                   -
  * LEFT OUTER      l, r             l, NULL ...         -
  * FULL OUTER      l, r             l, NULL ...         NULL ..., r
  * LEFT SEMI       l                -                   -
  * LEFT ANTI       none             l                   -
  * existence       l, TRUE          l, FALSE            -
  * }}}
  *
  * A row it gives is valid until the next call.
  */
sealed abstract class JoinOutput {

  /** The row for a pair, or null. */
  def matched(left: UnsafeRow, right: UnsafeRow): InternalRow
  def alone(side: Side, row: UnsafeRow): InternalRow
}

object JoinOutput {

  /** The roles of the sides in a join of this type, None for a type that is not planned. */
  def roles(joinType: JoinType): Option[BySide[Role]] = joinType match {
    case _: InnerLike => Some(BySide(Role.Paired, Role.Paired))
    case LeftOuter => Some(BySide(Role.Preserved, Role.Paired))
    case RightOuter => Some(BySide(Role.Paired, Role.Preserved))
    case FullOuter => Some(BySide(Role.Preserved, Role.Preserved))
    case LeftSemi => Some(BySide(Role.Existing, Role.Sought))
    case LeftAnti => Some(BySide(Role.Missing, Role.Sought))
    case _: ExistenceJoin => Some(BySide(Role.Marked, Role.Sought))
    case _ => None
  }

  def of(joinType: JoinType, outputs: BySide[Seq[Attribute]]): JoinOutput = joinType match {
    case LeftSemi | LeftAnti => OfLeft
    case _: ExistenceJoin => new WithAnswer(outputs.left)
    case _ => new Pairs(outputs)
  }

  final private class Pairs(outputs: BySide[Seq[Attribute]]) extends JoinOutput {
    private val joiner = GenerateUnsafeRowJoiner.create(schema(outputs.left), schema(outputs.right))
    private val nulls =
      outputs.map(columns => unsafe(columns.map(_ => null), columns.map(_.dataType)))
    def matched(left: UnsafeRow, right: UnsafeRow): InternalRow = joiner.join(left, right)
    def alone(side: Side, row: UnsafeRow): InternalRow =
      if (side eq Side.Left) joiner.join(row, nulls.right) else joiner.join(nulls.left, row)
  }

  private object OfLeft extends JoinOutput {
    def matched(left: UnsafeRow, right: UnsafeRow): InternalRow = left
    def alone(side: Side, row: UnsafeRow): InternalRow = row
  }

  final private class WithAnswer(output: Seq[Attribute]) extends JoinOutput {
    private val joiner = GenerateUnsafeRowJoiner.create(
      schema(output),
      StructType(Seq(StructField("exists", BooleanType, nullable = false)))
    )
    private val yes = unsafe(Seq(true), Seq(BooleanType))
    private val no = unsafe(Seq(false), Seq(BooleanType))
    def matched(left: UnsafeRow, right: UnsafeRow): InternalRow = joiner.join(left, yes)
    def alone(side: Side, row: UnsafeRow): InternalRow = joiner.join(row, no)
  }

  private def schema(output: Seq[Attribute]) =
    StructType(output.map(a => StructField(a.name, a.dataType, a.nullable)))

  private def unsafe(values: Seq[Any], types: Seq[DataType]): UnsafeRow =
    UnsafeProjection.create(types.toArray)(new GenericInternalRow(values.toArray)).copy()
}
