// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.execution.joins.plait

import java.util.SplittableRandom

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
    * Each row lies somewhere else in memory: to look at a million, one after the other, takes longer than many a join. Of
    * keys that are bytes a sample of rows is looked at, which sees a key as often as it has rows. Of keys that are longs
    * there is none but a sample of keys. It does not see that a few others have many rows, so it is only taken at its word
    * where enough are seen; else all are counted, if there are not as many keys, nearly, as rows.
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
      case byLong: LongHashedRelation => ofKeys(byLong, most, enough)
      case byBytes: UnsafeHashedRelation => ofSampledRows(byBytes, most, enough)
      case _ => None
    }).getOrElse(ofAll(counts(relation), most, enough))
  }

  /** So many keys or rows a sample has; of keys with many rows, only as many as have so many rows together. */
  private val Sample = 1 << 12
  private val SampleRows = 1 << 16
  private val SampleOfLong = 64

  private def ofKeys(
      relation: LongHashedRelation,
      most: Double,
      enough: Double
  ): Option[Double] = {
    val keys = relation.keys().size.toDouble
    // All that the keys leave over might be of one.
    val beside = most - keys + 1
    if (beside * beside < most * (enough - 1)) Some(1 + beside * beside / most)
    else {
      val step = (keys / Sample).toInt
      Option.when(step > 1)(ofSampledKeys(relation, step)).filter(_ >= enough)
    }
  }

  private def ofSampledKeys(relation: LongHashedRelation, step: Int): Double = {
    val keys = relation.keys()
    val steps = new Steps(step)
    var looked = 0
    var counted, squares = 0.0
    // Invariant: of the keys of the sample before the next, as in `ofAll`.
    while (keys.hasNext && !(looked >= SampleOfLong && counted > SampleRows)) {
      val n = relation.get(keys.next().getLong(0)).size.toDouble
      counted += n
      squares += n * n
      looked += 1
      steps.pass(keys)
    }
    squares / counted
  }

  private def ofSampledRows(
      relation: UnsafeHashedRelation,
      most: Double,
      enough: Double
  ): Option[Double] = {
    val step = math.ceil(most / Sample).toInt
    if (step <= 1 || most.isInfinite) None
    else {
      val keys = relation.keys()
      val steps = new Steps(step)
      var looked, partners = 0.0
      // Invariant: `looked` rows of the sample share their keys with `partners`, each with itself too.
      while (keys.hasNext && partners < enough * Sample) {
        partners += relation.get(keys.next()).size
        looked += 1
        steps.pass(keys)
      }
      if (keys.hasNext) Some(enough)
      else Option.when(looked > Sample / 4)(partners / looked)
    }
  }

  /** From one of a sample to the next, `step` on average: rows that come in turns would all be of one kind, or none. */
  final private class Steps(step: Int) {
    private val random = new SplittableRandom(step.toLong)

    def pass(rows: Iterator[InternalRow]): Unit = {
      var left = random.nextInt(2 * step - 1)
      // Invariant: `left` rows are still to be passed over, if there are so many.
      while (left > 0 && rows.hasNext) {
        rows.next()
        left -= 1
      }
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
    case other => new Lengths(perKey(other)).map(_.toDouble)
  }

  private def perKey(relation: HashedRelation): Iterator[Iterator[InternalRow]] = relation match {
    case byLong: LongHashedRelation => byLong.keys().map(key => byLong.get(key.getLong(0)))
    case byBytes: UnsafeHashedRelation =>
      Iterator.single(byBytes.valuesWithKeyIndex().map(_.getValue))
    // Without rows.
    case _ => Iterator.empty
  }

  /** The lengths of lists. Several are gone through by turns, so that the next row of each is fetched from memory while the
    * others are looked at.
    */
  final private class Lengths(lists: Iterator[Iterator[_]]) extends Iterator[Int] {
    private val open = new Array[Iterator[_]](Lengths.AtOnce)
    private val lengths = new Array[Int](Lengths.AtOnce)
    private var at = 0
    private var left = 0
    open.indices.foreach(fill)

    private def fill(place: Int): Unit = if (lists.hasNext) {
      open(place) = lists.next()
      lengths(place) = 0
      left += 1
    }

    override def hasNext: Boolean = left > 0

    override def next(): Int = {
      // Invariant: `left` of the places have a list, each gone through as far as its length says.
      while (open(at) == null || open(at).hasNext) {
        if (open(at) != null) {
          open(at).next()
          lengths(at) += 1
        }
        at = (at + 1) % Lengths.AtOnce
      }
      val length = lengths(at)
      open(at) = null
      left -= 1
      fill(at)
      length
    }
  }

  private object Lengths {
    val AtOnce = 16
  }
}
