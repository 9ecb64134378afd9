// SPDX-License-Identifier: Apache-2.0
// Laws: what is stored of a join of streams is what is read, whether by us or by Spark.
package plait.spark.stream

import java.lang.reflect.{InvocationHandler, Method, Proxy}

import scala.collection.mutable
import scala.concurrent.duration.Duration
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import plait.stream._
import plait.{BySide, Side}

class StateChunkStoreLaws extends munit.FunSuite {
  override val munitTimeout: Duration = Duration(1, "h")
  import StateChunkStoreLaws._

  // Of one column, and of more than a word of NULL bits has room for.
  private val widths = Seq(1, 5, 70)
  private val types = Seq(LongType, StringType, IntegerType, BinaryType, DoubleType)

  private def columns(count: Int): Seq[Attribute] =
    (0 until count).map(i => AttributeReference(s"c$i", types(i % types.size))())

  private def randomRow(random: Random, columns: Seq[Attribute]): UnsafeRow = {
    val longest = if (random.nextInt(40) == 0) 20000 else random.nextInt(60) + 1
    val values = columns.map { column =>
      if (random.nextInt(4) == 0) null
      else
        column.dataType match {
          case LongType => random.nextLong()
          case IntegerType => random.nextInt()
          case DoubleType => random.nextDouble()
          case StringType => UTF8String.fromString("x" * random.nextInt(longest))
          case _ => random.nextBytes(random.nextInt(longest))
        }
    }
    unsafe(columns.map(_.dataType))(InternalRow.fromSeq(values)).copy()
  }

  // Its code is made once a list of types, and not once a row.
  private val projections = mutable.Map.empty[Seq[DataType], UnsafeProjection]
  private def unsafe(types: Seq[DataType]): UnsafeProjection =
    projections.getOrElseUpdate(types, UnsafeProjection.create(types.toArray))

  for {
    width <- widths
    (how, through) <- Seq[(String, StateLayout => UnsafeRow => UnsafeRow)](
      "as we write them" -> (_ => _.copy()),
      "as Spark writes them" -> (layout => respelled(layout.valueSchema, _))
    )
    side <- Side.both
  } test(s"rows of $width columns are read as they were stored ($how, ${side.name})") {
    val random = new Random(width)
    val outputs = BySide(columns(width), columns(width + 1))
    val layout = new StateLayout(outputs)
    val entries = mutable.Map.empty[UnsafeRow, UnsafeRow]
    val store = new StateChunkStore(storeOf(entries, through(layout)), side, layout)
    val builder = store.newBuilder()
    for (number <- 0 until 30) {
      val rows = mutable.Buffer.empty[(Int, Long, Long, UnsafeRow)]
      while (rows.isEmpty || (!builder.isFull && random.nextInt(400) > 0)) {
        val row = (
          random.nextInt(),
          random.nextLong(),
          random.nextLong(),
          randomRow(random, outputs(side))
        )
        rows += row
        builder.add(row._1, row._2, row._3, row._4)
      }
      builder.put(7L, number)
      val chunk = store.chunk(7L, number)
      assertEquals(chunk.size, rows.size)
      for ((row, i) <- rows.zipWithIndex)
        assertEquals((chunk.hash(i), chunk.rank(i), chunk.end(i), chunk.row(i).copy()), row)
    }
  }

  for (
    (how, through) <- Seq[(String, StateLayout => UnsafeRow => UnsafeRow)](
      "as we write them" -> (_ => _.copy()),
      "as Spark writes them" -> (layout => respelled(layout.valueSchema, _))
    )
  ) test(s"roots, segments and bits are read as they were stored, each side's own ($how)") {
    val random = new Random(3)
    val layout = new StateLayout(BySide(columns(2), columns(3)))
    val entries = mutable.Map.empty[UnsafeRow, UnsafeRow]
    val shared = storeOf(entries, through(layout))
    val stores = BySide.make((side: Side) => new StateChunkStore(shared, side, layout))
    assertEquals(stores.left.root(), None)
    val expected = BySide.make { (side: Side) =>
      val root =
        StoreRoot(
          random.nextLong(),
          random.nextLong(),
          Seq.fill(random.nextInt(9))(random.nextLong())
        )
      val segment = new Segment(5L, random.nextInt(100), random.nextLong())
      val numbers = Array.fill(1 + segment.chunks * 9)(random.nextInt().toLong)
      val bits = Array.fill(random.nextInt(4) + 1)(random.nextLong())
      stores(side).saveRoot(root)
      stores(side).saveSegment(Segment.decoded(5L, numbers))
      stores(side).saveBits(5L, 3, bits)
      (root, numbers.toSeq, bits.toSeq)
    }
    for (side <- Side.both) {
      val store = stores(side)
      val read =
        (store.root().get, Segment.encoded(store.segment(5L)).toSeq, store.bits(5L, 3).toSeq)
      assertEquals(read, expected(side))
      assertEquals(store.bits(5L, 4), null)
      store.removeBits(5L, 3)
      assertEquals(store.bits(5L, 3), null)
      store.removeSegment(5L)
    }
    assertEquals(entries.size, 2, "only the roots were not removed")
  }

  test("Spark sees the fields of a chunk as its columns, and those that it does not need as NULL") {
    val outputs = BySide(columns(3), columns(5))
    val layout = new StateLayout(outputs)
    val entries = mutable.Map.empty[UnsafeRow, UnsafeRow]
    val store = new StateChunkStore(storeOf(entries, _.copy()), Side.Right, layout)
    val builder = store.newBuilder()
    val random = new Random(5)
    val rows = Seq.fill(3)(randomRow(random, outputs.right))
    for ((row, i) <- rows.zipWithIndex) builder.add(i, i * 10L, i * 20L, row)
    builder.put(1L, 2)
    val (key, value) = entries.head
    val generic = toGeneric(StateLayout.keySchema, key)
    assertEquals(generic.toSeq(StateLayout.keySchema), Seq[Any](1.toByte, 2.toByte, 1L, 2))
    val fields = toGeneric(layout.valueSchema, value)
    assertEquals(fields.getArray(0).toIntArray().toSeq, Seq(0, 1, 2))
    assertEquals(fields.getArray(1).toLongArray().toSeq, Seq(0L, 10L, 20L))
    assertEquals(fields.getArray(2).toLongArray().toSeq, Seq(0L, 20L, 40L))
    assertEquals(Seq(3, 5, 6).map(fields.isNullAt), Seq(true, true, true))
    val types = outputs.right.map(_.dataType)
    val schema = layout.valueSchema(4).dataType.asInstanceOf[ArrayType].elementType
    val shown = fields.getArray(4).toArray[InternalRow](schema)
    val unsafe = UnsafeProjection.create(types.toArray)
    assertEquals(shown.toSeq.map(unsafe(_).copy()), rows)
  }
}

object StateChunkStoreLaws {

  /** A store that keeps what `through` makes of each value. */
  private def storeOf(
      entries: mutable.Map[UnsafeRow, UnsafeRow],
      through: UnsafeRow => UnsafeRow
  ): StateStore = {
    val handler: InvocationHandler = (_: Any, method: Method, args: Array[AnyRef]) => {
      def key = args(0).asInstanceOf[UnsafeRow]
      method.getName match {
        case "get" => entries.get(key).map(_.copy()).orNull
        case "put" => entries(key.copy()) = through(args(1).asInstanceOf[UnsafeRow]); null
        case "remove" => entries.remove(key); null
        case name if name.contains("$default$") => "default"
        case name => throw new UnsupportedOperationException(name)
      }
    }
    Proxy
      .newProxyInstance(getClass.getClassLoader, Array(classOf[StateStore]), handler)
      .asInstanceOf[StateStore]
  }

  /** As Spark's own code reads it. */
  private def toGeneric(schema: StructType, row: UnsafeRow): InternalRow = {
    val types = schema.map(_.dataType)
    val safe = SafeProjection.create(types.toArray)
    safe(row).copy()
  }

  /** Read by Spark's own code, and written by it. */
  private def respelled(schema: StructType, row: UnsafeRow): UnsafeRow =
    UnsafeProjection.create(schema)(toGeneric(schema, row)).copy()
}
