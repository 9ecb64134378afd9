// SPDX-License-Identifier: Apache-2.0
// Examples: how much the node's iterator reads.
package plait.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.types.LongType

import plait.join.{JoinCore, KeyGroup}
import plait.spark.exec.SymmetricHashJoinPairs
import plait.spark.side.SideReader
import plait.{BySide, Side}

class DemandSuite extends SparkSuite {
  private val row = Rows.of(LongType, LongType)

  final private class Counting(keyOf: Long => Long, first: Int = 1, size: Int = Int.MaxValue)
      extends Iterator[InternalRow] {
    var read = 0
    def hasNext: Boolean = read < size
    def next(): InternalRow = {
      val s = (first + read).toLong
      read += 1
      row(Seq(keyOf(s), s))
    }
  }

  final private class Stored extends plait.join.RowStore[UnsafeRow] {
    private val rows = scala.collection.mutable.LongMap.empty[UnsafeRow]
    private var last = 0L
    def put(row: UnsafeRow): Long = { last += 1; rows(last) = row.copy(); last }
    def get(handle: Long): UnsafeRow = rows(handle)
    def free(handle: Long): Unit = rows -= handle
    def clear(): Unit = rows.clear()
  }

  private def join(
      inputs: BySide[Counting],
      joinType: JoinType = Inner
  ): (Iterator[InternalRow], SymmetricHashJoinPairs, JoinCore[SideReader, KeyGroup, UnsafeRow]) = {
    val join =
      new SortedJoin(inputs.map(input => input: Iterator[InternalRow]), joinType, new Stored)
    (join.rows, join.pairs, join.core)
  }

  test("nothing is read before a row is asked for") {
    val inputs = BySide(new Counting(_ => 0), new Counting(_ => 0))
    join(inputs)
    assertEquals((inputs.left.read, inputs.right.read), (0, 0))
  }

  test("the first row reads no more than the rows up to the first pair, (6, 1)") {
    val inputs = BySide(new Counting(_ => 0), new Counting(_ => 0))
    val (rows, _, _) = join(inputs)
    assertEquals(rows.next().getLong(1), 6L)
    assertEquals((inputs.left.read, inputs.right.read), (6, 1))
  }

  for (joinType <- Seq(LeftOuter, FullOuter, LeftAnti))
    test(
      s"$joinType: the first row without a match comes when the other side has passed its reach"
    ) {
      // No keys match; left 1 reaches right [-5, -4].
      val inputs = BySide(new Counting(s => -s), new Counting(s => s))
      val (rows, _, core) = join(inputs, joinType)
      assertEquals(rows.next().getLong(1), 1L)
      assert(inputs.left.read <= 2 && inputs.right.read <= 2, inputs.map(_.read).toString)
      rows.take(100000).foreach(_ => ())
      assert(core.peakBuffered <= 16, core.peakBuffered.toString)
    }

  for ((joinType, side, ofSide) <- Seq((LeftOuter, Side.Left, 1), (RightOuter, Side.Right, 3)))
    test(s"10M $joinType: the first row without a match comes before 1 % of either is pulled") {
      // The left begins at 6, so that each row has a partner of its key: left 6 right 1, and so on.
      // Only the key of row 50,000 of one side is nowhere else.
      def keyOf(own: Side)(s: Long) = if ((own eq side) && s == 50000) -s else s % 5
      val size = 10000000
      val inputs = BySide(
        new Counting(keyOf(Side.Left), 6, size),
        new Counting(keyOf(Side.Right), 1, size)
      )
      val (rows, _, core) = join(inputs, joinType)
      val alone = rows.find(_.isNullAt(4 - ofSide)).get
      assertEquals(alone.getLong(ofSide), 50000L)
      val read = inputs.map(_.read)
      for (each <- Side.both) assert(read(each) > 49000 && read(each) < size / 100, read.toString)
      assert(core.peakBuffered <= 16, core.peakBuffered.toString)
    }

  test("LEFT SEMI: the first row reads no more than the rows up to the first pair, (6, 1)") {
    val inputs = BySide(new Counting(_ => 0), new Counting(_ => 0))
    val (rows, _, core) = join(inputs, LeftSemi)
    assertEquals(rows.next().getLong(1), 6L)
    assertEquals((inputs.left.read, inputs.right.read), (6, 1))
    assertEquals(rows.take(1000).map(_.getLong(1)).toSeq, (7L to 1006L))
    assert(core.peakBuffered <= 16, core.peakBuffered.toString)
  }

  test("with other keys in between too: first pair (16, 11)") {
    // Left keys are negative up to 15, right keys are 0 from 11 on.
    val inputs = BySide(
      new Counting(s => if (s < 16) -s else 0),
      new Counting(s => if (s < 11) s else 0)
    )
    val (rows, _, core) = join(inputs)
    assertEquals(rows.next().getLong(1), 16L)
    assert(inputs.left.read <= 16 && inputs.right.read <= 11, inputs.map(_.read).toString)
    assert(core.peakBuffered <= 4, core.peakBuffered.toString)
  }

  test("over endless inputs 100,000 pairs come with a handful of rows buffered") {
    val (rows, pairs, core) = join(BySide(new Counting(_ % 5), new Counting(_ % 5)))
    rows.take(100000).foreach(_ => ())
    assert(core.peakBuffered <= 16, core.peakBuffered.toString)
    assertEquals(pairs.pairsByProbing(Side.Left) + pairs.pairsByProbing(Side.Right), 100000L)
  }
}
