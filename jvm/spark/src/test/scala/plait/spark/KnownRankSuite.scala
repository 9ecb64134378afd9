// SPDX-License-Identifier: Apache-2.0
// Laws and examples: the order value of a row that a join sorts is computed once.
package plait.spark

import java.util.concurrent.atomic.AtomicLong

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{
  Add,
  AttributeReference,
  BitwiseNot,
  BitwiseXor,
  Coalesce,
  Expression,
  Literal,
  UnaryExpression,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.types.{DataType, LongType}

import plait.join.Rankless
import plait.spark.exec.{JoinSpec, SymmetricHashJoinTask}
import plait.spark.side.{JoinMetrics, KeySequence, SidePlan, SideReader}
import plait.spark.translate.{NullOnError, OrderValue}
import plait.{BySide, Side}

class KnownRankSuite extends SparkSuite {
  private val column = AttributeReference("x", LongType)()
  private val other = AttributeReference("y", LongType)()

  /** `x + y`, an error where that is too large. */
  private val value = OrderValue(NullOnError(Add(column, other)))

  private def ranks(rank: Expression): Seq[Expression] =
    Seq(rank, BitwiseNot(value), BitwiseXor(value, OrderValue(other)))

  private val orders = Seq(
    "ascending" -> value,
    "descending" -> BitwiseNot(value),
    "ascending, with a rank for NULL" -> Coalesce(Seq(value, Literal(Long.MinValue))),
    "descending, with a rank for NULL" -> Coalesce(Seq(BitwiseNot(value), Literal(Long.MinValue)))
  )

  private def seen(reader: SideReader) =
    (reader.hasRank, reader.reaches, reader.rank, reader.low, reader.high)

  for ((name, rank) <- orders)
    test(s"$name: what follows from a known rank is what is computed without") {
      val random = new Random(plait.Cases.seed)
      val made = Rows.of(LongType, LongType)
      def reader = SideReader.create(Nil, ranks(rank), Seq(column, other))
      val (computing, knowing) = (reader, reader)
      def some = random.nextInt(5) match {
        case 0 => null
        case 1 => Long.MinValue + random.nextInt(3)
        case 2 => Long.MaxValue - random.nextInt(3)
        case _ => random.nextLong() >> random.nextInt(64)
      }
      var ranked = 0
      for (_ <- 1 to 2000) {
        val row: UnsafeRow = made(Seq(some, some))
        computing.read(row)
        val rank = if (computing.hasRank) computing.rank else SideReader.Unknown
        if (computing.reaches) {
          ranked += 1
          knowing.read(row, rank)
          assertEquals(seen(knowing), seen(computing))
        } else {
          knowing.read(row, rank)
          assertEquals((knowing.hasRank, knowing.reaches), (computing.hasRank, computing.reaches))
        }
      }
      assert(ranked > 500)
    }

  test("a rank that is known is believed") {
    val row = Rows.of(LongType, LongType)(Seq(3L, 4L))
    val reader = SideReader.create(Nil, ranks(BitwiseNot(value)), Seq(column, other))
    reader.read(row, ~100L)
    assertEquals((reader.rank, reader.low, reader.high), (~100L, ~100L, 100L ^ 4L))
  }

  test("what rank and reach share is computed once a row, also beside a key of many columns") {
    val order = OrderValue(KnownRankSuite.Counted(other))
    val row = Rows.of(LongType, LongType)(Seq(3L, 4L))
    for (keys <- Seq(Nil, Seq(column), Seq(column, other, column))) {
      val reader = SideReader.create(keys, Seq.fill(3)(order), Seq(column, other))
      KnownRankSuite.Computed.set(0)
      reader.read(row)
      assertEquals((reader.reaches, KnownRankSuite.Computed.get), (true, 1L))
    }
  }

  for (radix <- Seq(RadixJoinChoice.Never, RadixJoinChoice.Always))
    test(s"a join that sorts by an expression computes it once a row, by bucket: ${radix.name}") {
      val metrics = JoinMetrics.create(spark.sparkContext)
      val order = OrderValue(KnownRankSuite.Counted(other))
      val plans = BySide(order, OrderValue(other)).map { order =>
        SidePlan(Seq(column), Seq.fill(3)(order), Seq(column, other), isSortedHere = true)
      }
      KnownRankSuite.Computed.set(0)
      val found = spark.sparkContext
        .parallelize(Seq(1), 1)
        .map { _ =>
          val rows = BySide.make(_ => Rows.of(LongType, LongType))
          def input(side: Side, step: Int) =
            Iterator.tabulate(1000)(n => rows(side)(Seq(n % 7L, n * step % 1000L)))
          val spec = JoinSpec(
            LeftOuter,
            plans,
            BySide(Rankless.Dead, Rankless.Dead),
            None,
            KeySequence.Unknown,
            radix,
            metrics,
            None
          )
          val task = new SymmetricHashJoinTask(spec)
          val pairs = task.join(BySide(input(Side.Left, 13), input(Side.Right, 17)))
          Iterator.continually(pairs.advance()).takeWhile(identity).size
        }
        .collect()
        .head
      val expected = for {
        l <- 0 until 1000
        r <- 0 until 1000 if l % 7 == r % 7 && l * 13 % 1000 == r * 17 % 1000
      } yield l
      assertEquals(found, expected.size + (0 until 1000).diff(expected).size)
      assertEquals(KnownRankSuite.Computed.get, 1000L)
      val inBuckets = metrics(JoinMetrics.RowsInBuckets).value
      assertEquals(inBuckets, if (radix == RadixJoinChoice.Always) 2000L else 0L)
    }
}

object KnownRankSuite {

  /** How often an order was computed, by tasks of this JVM. */
  val Computed = new AtomicLong

  /** The same value, counted. */
  final case class Counted(child: Expression) extends UnaryExpression with CodegenFallback {
    override def dataType: DataType = child.dataType
    override def eval(row: InternalRow): Any = {
      val _ = Computed.incrementAndGet()
      child.eval(row)
    }
    override protected def withNewChildInternal(newChild: Expression): Counted =
      copy(child = newChild)
  }
}
