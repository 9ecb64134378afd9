// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.joins.HashJoin
import org.apache.spark.sql.types.{LongType, StringType}

import plait.spark.translate.OrderValue

/** How the key of a row is held: as one long where key and long stand for each other one to one; as the
  * bytes of one text, where they lie; else as a row of its columns.
  *
  * {{{
  * (k BIGINT)  (d DATE)  (a INT, b SMALLINT)       Whole
  * (s STRING)                                      Text, or Columns where keys are written down
  * (a BIGINT, b INT)  ()                           Columns
  * }}}
  *
  * Both sides of a join have keys of the same types, hence the same form.
  */
sealed trait KeyForm {
  def expressions: Seq[Expression]
  def map(f: Seq[Expression] => Seq[Expression]): KeyForm

  /** Are two keys of this form the same? */
  def isSame(key: RowKey, other: RowKey): Boolean
}

object KeyForm {
  final case class Whole(key: Expression) extends KeyForm {
    def expressions: Seq[Expression] = Seq(key)
    def map(f: Seq[Expression] => Seq[Expression]): KeyForm = Whole(f(expressions).head)
    def isSame(key: RowKey, other: RowKey): Boolean = key.keyValue == other.keyValue
  }

  /** A text whose equality is that of its bytes: no row is made of it. */
  final case class Text(key: Expression) extends KeyForm {
    def expressions: Seq[Expression] = Seq(key)
    def map(f: Seq[Expression] => Seq[Expression]): KeyForm = Text(f(expressions).head)
    def isSame(key: RowKey, other: RowKey): Boolean = key.isSameText(other)
  }

  final case class Columns(expressions: Seq[Expression]) extends KeyForm {
    def map(f: Seq[Expression] => Seq[Expression]): KeyForm = Columns(f(expressions))
    def isSame(key: RowKey, other: RowKey): Boolean = key.key == other.key
  }

  /** Of keys that nothing outside of the task sees. */
  def inMemory(keys: Seq[Expression]): KeyForm = asText(of(keys))

  /** The same, whose sequence ([[KeyOrder]]) is that in which Spark sorts the columns: integers that share a long have
    * another.
    */
  def inSequence(keys: Seq[Expression]): KeyForm =
    asText(if (keys.size == 1) of(keys) else Columns(keys))

  private def asText(form: KeyForm): KeyForm = form match {
    case Columns(Seq(key)) if key.dataType == StringType => Text(key)
    case other => other
  }

  def of(keys: Seq[Expression]): KeyForm = keys match {
    case Seq() => Columns(keys)
    case Seq(key) if OrderValue.isWhole(key.dataType) => Whole(OrderValue(key))
    case _ => broadcast(keys)
  }

  /** As it is in a broadcast of Spark's: integers that fit a long together are packed. */
  def broadcast(keys: Seq[Expression]): KeyForm = HashJoin.rewriteKeyExpr(keys) match {
    case Seq(key) if key.dataType == LongType => Whole(key)
    case columns => Columns(columns)
  }
}
