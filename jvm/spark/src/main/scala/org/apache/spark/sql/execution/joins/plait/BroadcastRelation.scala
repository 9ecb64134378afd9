// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.execution.joins.plait

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.joins.{
  HashedRelation,
  LongHashedRelation,
  UnsafeHashedRelation
}

/** What a broadcast of Spark's holds, by key or as it came.
  *
  * It stands in this package because the relations do not show outside of it.
  */
object BroadcastRelation {

  /** Its rows, valid for as long as the broadcast is; each is valid until the next. */
  def rows(broadcast: Any): Iterator[UnsafeRow] = broadcast match {
    case rows: Array[InternalRow] => rows.iterator.map(_.asInstanceOf[UnsafeRow])
    case relation: HashedRelation =>
      val own = relation.asReadOnlyCopy()
      perKey(own).flatMap(identity).map(_.asInstanceOf[UnsafeRow])
    case other => throw new IllegalArgumentException(s"no rows are known of ${other.getClass}")
  }

  /** With how many rows, on average, a row shares its key: itself, and its partners. The number if it is below
    * `enough`, else one that is no less: keys are counted up to where that is sure.
    * @param broadcast
    *   by key
    * @param rows
    *   how many it has at most, if known
    */
  def rowsPerKey(broadcast: Any, rows: Option[BigInt], enough: Double): Double = {
    val relation = broadcast.asInstanceOf[HashedRelation].asReadOnlyCopy()
    if (relation.keyIsUnique) 1
    else {
      val most = rows.fold(Double.PositiveInfinity)(_.toDouble)
      val keys = counts(relation)
      var counted, squares = 0.0
      // Invariant: of the keys before the next, `counted` is the sum of their rows and `squares` that of the squares.
      while (keys.hasNext && squares < enough * most) {
        val n = keys.next()
        counted += n
        squares += n * n
      }
      if (keys.hasNext) squares / most else squares / counted
    }
  }

  private def counts(relation: HashedRelation): Iterator[Double] = relation match {
    case byBytes: UnsafeHashedRelation =>
      val found = new Array[Int](byBytes.maxNumKeysIndex)
      byBytes.valuesWithKeyIndex().foreach(value => found(value.getKeyIndex) += 1)
      found.iterator.filter(_ > 0).map(_.toDouble)
    case other => perKey(other).map(_.size.toDouble)
  }

  private def perKey(relation: HashedRelation): Iterator[Iterator[InternalRow]] = relation match {
    case byLong: LongHashedRelation => byLong.keys().map(key => byLong.get(key.getLong(0)))
    case byBytes: UnsafeHashedRelation =>
      Iterator.single(byBytes.valuesWithKeyIndex().map(_.getValue))
    // Without rows.
    case _ => Iterator.empty
  }
}
