// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.joins.HashJoin
import org.apache.spark.sql.types.LongType

import plait.spark.translate.OrderValue

/** How the key of a row is held: as one long where key and long stand for each other one to one, else
  * as a row of its columns.
  *
  * {{{
  * (k BIGINT)  (d DATE)  (a INT, b SMALLINT)       Whole
  * (s STRING)  (a BIGINT, b INT)  ()               Columns
  * }}}
  *
  * Both sides of a join have keys of the same types, hence the same form.
  */
sealed trait KeyForm {
  def expressions: Seq[Expression]
  def map(f: Seq[Expression] => Seq[Expression]): KeyForm
}

object KeyForm {
  final case class Whole(key: Expression) extends KeyForm {
    def expressions: Seq[Expression] = Seq(key)
    def map(f: Seq[Expression] => Seq[Expression]): KeyForm = Whole(f(expressions).head)
  }

  final case class Columns(expressions: Seq[Expression]) extends KeyForm {
    def map(f: Seq[Expression] => Seq[Expression]): KeyForm = Columns(f(expressions))
  }

  def of(keys: Seq[Expression]): KeyForm = keys match {
    case Seq() => Columns(keys)
    case Seq(key) if OrderValue.isWhole(key.dataType) => Whole(OrderValue(key))
    case _ =>
      // Spark's own packing of integers that fit a long together.
      HashJoin.rewriteKeyExpr(keys) match {
        case Seq(key) if key.dataType == LongType => Whole(key)
        case _ => Columns(keys)
      }
  }
}
