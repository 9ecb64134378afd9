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

  /** For one thread, as Spark's own join looks rows up in it. */
  def byKey(broadcast: Any): ByKey = new ByKey(broadcast.asInstanceOf[HashedRelation])

  final class ByKey private[BroadcastRelation] (shared: HashedRelation) {
    private val own = shared.asReadOnlyCopy()

    /** The rows of a key, or null. */
    def get(key: Long): Iterator[InternalRow] = own.get(key)
    def get(key: InternalRow): Iterator[InternalRow] = own.get(key)
  }

  /** With how many rows, on average, a row shares its key: itself, and its partners. Where that is below `enough` it is
    * the number, or of many rows an estimate; else one that is no less than `enough`.
    *
    * Of many rows a sample is gone through: each lies somewhere else in memory, and to look at a million takes longer than
    * many a join. A sample of keys does not see that a few others have most of the rows. So it counts if by it there would
    * be about as many rows as there are; else all are gone through.
    * @param broadcast
    *   by key
    * @param rows
    *   how many it has at most, if known
    */
  def rowsPerKey(broadcast: Any, rows: Option[BigInt], enough: Double): Double = {
    val relation = broadcast.asInstanceOf[HashedRelation].asReadOnlyCopy()
    val most = rows.fold(Double.PositiveInfinity)(_.toDouble)
    (relation match {
      case unique if unique.keyIsUnique => Some(1.0)
      case byLong: LongHashedRelation => ofSampledKeys(byLong, most, enough)
      case byBytes: UnsafeHashedRelation => ofSampledRows(byBytes, most, enough)
      case _ => None
    }).getOrElse(ofAll(counts(relation), most, enough))
  }

  /** A sample looks at so many rows, as long as a row shares its key with no more than enough. */
  private val Looked = 1 << 16

  /** So great a part of the rows there should be by a sample of keys. */
  private val Explained = 0.9

  private def ofSampledKeys(
      relation: LongHashedRelation,
      most: Double,
      enough: Double
  ): Option[Double] = {
    val step = stepOf(relation.keys().size.toDouble, enough)
    if (step == 1 || most.isInfinite) None
    else {
      val keys = relation.keys()
      var counted, squares = 0.0
      // Invariant: of the keys of the sample before the next, as in `ofAll`.
      while (keys.hasNext && counted < Looked) {
        val n = relation.get(keys.next().getLong(0)).size.toDouble
        counted += n
        squares += n * n
        skip(keys, step - 1)
      }
      Some(squares / counted).filter(_ >= enough || counted * step >= Explained * most)
    }
  }

  /** A sample of rows sees a key as often as the key has rows. */
  private def ofSampledRows(
      relation: UnsafeHashedRelation,
      most: Double,
      enough: Double
  ): Option[Double] = {
    val step = stepOf(most, enough)
    if (step == 1 || most.isInfinite) None
    else {
      val keys = relation.keys()
      var looked, partners = 0.0
      // Invariant: `looked` rows of the sample share their keys with `partners`, each with itself too.
      while (keys.hasNext && partners < Looked) {
        partners += relation.get(keys.next()).size
        looked += 1
        skip(keys, step - 1)
      }
      Option.when(looked > 0)(partners / looked)
    }
  }

  private def stepOf(all: Double, enough: Double): Int =
    math.max(1, math.min(all * enough / Looked, Int.MaxValue).toInt)

  private def skip(rows: Iterator[InternalRow], n: Int): Unit = {
    var left = n
    // Invariant: `left` rows are still to be passed over, if there are so many.
    while (left > 0 && rows.hasNext) {
      rows.next()
      left -= 1
    }
  }

  private def ofAll(keys: Iterator[Double], most: Double, enough: Double): Double = {
    var counted, squares = 0.0
    // Invariant: of the keys before the next, `counted` is the sum of their rows and `squares` that of the squares.
    while (keys.hasNext && squares < enough * most) {
      val n = keys.next()
      counted += n
      squares += n * n
    }
    if (keys.hasNext) squares / most else squares / counted
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
