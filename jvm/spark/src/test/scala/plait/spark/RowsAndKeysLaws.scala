// SPDX-License-Identifier: Apache-2.0
// Laws: the stores of rows and keys against Scala's own collections.
package plait.spark

import java.io.File
import java.nio.file.Files

import scala.collection.mutable
import scala.concurrent.duration.Duration
import scala.util.Random

import org.apache.spark.SparkConf
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager, UnifiedMemoryManager}
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  AttributeSeq,
  BindReferences,
  Cast,
  Divide,
  Expression,
  Literal,
  Multiply,
  Murmur3Hash,
  Pmod,
  UnsafeRow
}
import org.apache.spark.sql.types.{BinaryType, DoubleType, FloatType, LongType, StringType}
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.unsafe.types.UTF8String

import plait.Side
import plait.join.{IndexMemory, KeyGroup, MemoryRowBuffer}
import plait.spark.side.{
  HashKeyTable,
  KeyForm,
  NoKeyTable,
  PagedRowStore,
  RowKey,
  RowKeyTable,
  SideReader,
  SpillFile,
  SpillSeal,
  SpillTarget,
  TaskIndexMemory,
  TextKeyTable,
  WholeKeyTable
}

class RowsAndKeysLaws extends munit.FunSuite {
  override val munitTimeout: Duration = Duration(1, "h")

  private def memory(offHeap: Boolean = false, most: Long = 64L << 20): TaskMemoryManager =
    new TaskMemoryManager(unified(offHeap, most), 0)

  private def unified(offHeap: Boolean, most: Long) = {
    val conf = new SparkConf()
      .set("spark.memory.offHeap.enabled", offHeap.toString)
      .set("spark.memory.fraction", "0.5")
      .set("spark.testing.memory", (2 * most).toString)
      .set("spark.testing.reservedMemory", "0")
    if (offHeap) conf.set("spark.memory.offHeap.size", most.toString)
    UnifiedMemoryManager(conf, 1)
  }

  private class Target(seal: Option[SpillSeal] = None) extends SpillTarget {
    val file: File = File.createTempFile("plait", "spill")
    var bytes = 0L
    override def newFile(): SpillFile = new SpillFile(file, seal)
    override def count(more: Long): Unit = bytes += more
  }

  /** Refuses, as Spark does, what goes beyond its table of pages, of which this one has so many. */
  private class TableOf(most: Int)
      extends TaskMemoryManager(unified(offHeap = false, 64L << 20), 0) {
    var pages = 0
    override def allocatePage(size: Long, consumer: MemoryConsumer): MemoryBlock = {
      if (pages == most) throw new IllegalStateException(s"a maximum of $most pages")
      pages += 1
      super.allocatePage(size, consumer)
    }
    override def freePage(page: MemoryBlock, consumer: MemoryConsumer): Unit = {
      pages -= 1
      super.freePage(page, consumer)
    }
  }

  private def store(manager: TaskMemoryManager, fields: Int) =
    new PagedRowStore(manager, fields, new Target)

  private def seal = new SpillSeal(Array.tabulate[Byte](16)(_.toByte))

  private val modes = for {
    (mode, offHeap) <- Seq("on heap" -> false, "off heap" -> true)
    (room, most, seal) <- Seq(
      ("in memory", 64L << 20, None),
      ("mostly on disk", 1L << 19, None),
      ("mostly on disk, encrypted", 1L << 19, Some(seal))
    )
  } yield (s"$mode, $room", offHeap, most, seal)

  for ((mode, offHeap, most, seal) <- modes)
    test(s"what was put is what one gets, through frees in any sequence ($mode)") {
      val random = new Random(7)
      val manager = memory(offHeap, most)
      val target = new Target(seal)
      val store = new PagedRowStore(manager, 2, target)
      val row = Rows.of(LongType, BinaryType)
      val live = mutable.Map.empty[Long, UnsafeRow]
      for (step <- 1 to 20000)
        if (live.isEmpty || random.nextInt(100) < 52) {
          // Now and then a row that is larger than a page.
          val size = if (random.nextInt(500) == 0) 200000 else random.nextInt(300)
          val bytes = new Array[Byte](size)
          random.nextBytes(bytes)
          val put = row(Seq(step.toLong, bytes))
          live(store.put(put)) = put
        } else {
          val handle = if (random.nextBoolean()) live.keys.head else live.keys.maxBy(_ ^ step)
          assertEquals(store.get(handle), live(handle))
          store.free(handle)
          live -= handle
        }
      live.foreach { case (handle, put) => assertEquals(store.get(handle), put) }
      assertEquals(target.bytes > 0, most < (1L << 20), s"${target.bytes} bytes spilled")
      store.clear()
      assertEquals(manager.cleanUpAllAllocatedMemory(), 0L, "memory was left behind")
      assert(target.bytes == 0 || !target.file.exists, "the file was left behind")
    }

  for ((mode, offHeap, most, seal) <- modes)
    test(
      s"rows that outlive others keep the memory of few, and are found where they were moved ($mode)"
    ) {
      val manager = memory(offHeap, most)
      val target = new Target(seal)
      val store = new PagedRowStore(manager, 2, target)
      val row = Rows.of(LongType, BinaryType)
      val keys = new NoKeyTable
      val key = new RowKey {}
      val buffer = new MemoryRowBuffer[UnsafeRow](Side.Left, keys, store)
      val bytes = new Array[Byte](100)
      var largest = 0L
      // One row in a hundred stays; of the others 1,000 are there at a time.
      for (n <- 0 until 200000) {
        val end = if (n % 100 == 0) Long.MaxValue else n.toLong
        buffer.append(keys.claim(key), row(Seq(n.toLong, bytes)), n.toLong, end)
        buffer.takeDead(n - 1000L): Unit
        // In the file pages of 64 KiB lie 1 MiB apart.
        largest = math.max(largest, store.getUsed + target.file.length / 16)
      }
      assertEquals(buffer.size, 2000L + 990 + 1)
      assert(largest < 4L * buffer.size * 150, s"$largest bytes for ${buffer.size} rows")
      buffer.probe(keys.find(key), 0, 200000)
      val found = Iterator.continually(buffer.next()).takeWhile(_ != null).map(_.getLong(0)).toSeq
      assertEquals(found.filter(_ < 199000 - 1), (0L until 199000 - 1 by 100))
      assertEquals(found.size.toLong, buffer.size)
      store.clear()
    }

  test("a store with as many pages as it may have spills, though there is memory") {
    val most = 8
    val manager = new TableOf(most)
    val target = new Target
    val store = new PagedRowStore(manager, 2, target, most)
    val row = Rows.of(LongType, BinaryType)
    val handles = Seq.tabulate(1000)(n => store.put(row(Seq(n.toLong, new Array[Byte](20000)))))
    assert(target.bytes > 10000000, s"${target.bytes} bytes spilled")
    assertEquals(handles.map(store.get(_).getLong(0)), Seq.tabulate(1000)(_.toLong))
    store.clear()
    assertEquals(manager.pages, 0)
  }

  for (offHeap <- Seq(false, true))
    test(
      s"where another has all memory and gives none back, rows go to the file page by page (off heap: $offHeap)"
    ) {
      val most = 1L << 20
      val manager = memory(offHeap, most)
      val mode = if (offHeap) MemoryMode.OFF_HEAP else MemoryMode.ON_HEAP
      val another = new MemoryConsumer(manager, 0, mode) {
        override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
      }
      val target = new Target
      val store = new PagedRowStore(manager, 2, target)
      val row = Rows.of(LongType, BinaryType)
      def put(n: Int) = store.put(row(Seq(n.toLong, new Array[Byte](if (n == 7) 200000 else 999))))
      val before = (0 until 20).map(put)
      val taken = another.acquireMemory(most)
      // That of the row given last, and the one that is being filled; of a long row it may be one of its own.
      assert(store.getUsed <= 300000, s"${store.getUsed} bytes stay")
      val during = (20 until 3000).map { n =>
        val handle = put(n)
        assertEquals(store.get(handle).getLong(0), n.toLong)
        handle
      }
      assert(target.bytes > 2500000, s"${target.bytes} bytes spilled")
      another.freeMemory(taken)
      val after = (3000 until 3300).map(put)
      assert(store.getUsed > 200000, s"${store.getUsed} bytes are counted again")
      val all = before ++ during ++ after
      assertEquals(all.map(store.get(_).getLong(0)), Seq.tabulate(3300)(_.toLong))
      all.foreach(store.free)
      store.clear()
      assertEquals(manager.cleanUpAllAllocatedMemory(), 0L, "memory was left behind")
    }

  test("a short row costs the reading of one chunk, also after a long row") {
    var turned = 0L
    val counting = new SpillSeal(Array.fill[Byte](16)(1)) {
      override def turn(start: Array[Byte], offset: Long, bytes: Array[Byte], length: Int): Unit = {
        turned += length
        super.turn(start, offset, bytes, length)
      }
    }
    val spilled = new SpillFile(new Target().file, Some(counting))
    // At each place the length of a row, of 16 bytes but for the first.
    val page = Array.fill(1 << 17)(16L)
    page(0) = 500000L
    val place = spilled.write(MemoryBlock.fromLongArray(page))
    val row = new UnsafeRow(1)
    spilled.read(place, 0, row)
    assertEquals(row.getSizeInBytes, 500000)
    turned = 0
    for (offset <- 600000L to 1000000L by 40000L) spilled.read(place, offset, row)
    assert(turned <= 11 * 8192, s"11 rows of 16 bytes took $turned bytes")
    spilled.close()
  }

  test("pages that are encrypted do not show in the file, nor that two of them are equal") {
    val file = new Target().file
    val spilled = new SpillFile(file, Some(seal))
    val page = MemoryBlock.fromLongArray(Array.fill(1 << 16)(0x2020202020202020L))
    spilled.write(page): Unit
    val place = spilled.write(page)
    def blocks = Files.readAllBytes(file.toPath).take(1 << 19).grouped(16).map(_.toSeq).toSeq
    val first = blocks
    assertEquals(first.toSet.size, first.size)
    spilled.free(place, page.size)
    assertEquals(spilled.write(page), place)
    val both =
      Files.readAllBytes(file.toPath).grouped(16).map(_.toSeq).filter(_.exists(_ != 0)).toSeq
    assertEquals(both.toSet.size, both.size)
    spilled.close()
  }

  test("bytes are the same again, from whichever block on they are read") {
    val random = new Random(3)
    val plain = new Array[Byte](100000)
    random.nextBytes(plain)
    // The number of the first block is one before that where nearly all of its bytes change.
    val start = Array.fill[Byte](16)(-1).updated(0, 7.toByte).updated(15, -2.toByte)
    val hidden = plain.clone()
    seal.turn(start, 0, hidden, hidden.length)
    assertNotEquals(hidden.toSeq, plain.toSeq)
    for (_ <- 1 to 500) {
      val from = random.nextInt(plain.length / 16) * 16
      val part = hidden.slice(from, from + 1 + random.nextInt(300))
      seal.turn(start, from.toLong, part, part.length)
      assertEquals(part.toSeq, plain.slice(from, from + part.length).toSeq)
    }
  }

  test("the place of a large page in the file is used again") {
    val file = new Target().file
    val spilled = new SpillFile(file, None)
    def page(size: Long) = MemoryBlock.fromLongArray(new Array[Long]((size / 8).toInt))
    for (_ <- 1 to 10; size <- Seq(64L << 10, 1L << 20, (1L << 20) + 8, 4L << 20)) {
      val place = spilled.write(page(size))
      spilled.free(place, size)
    }
    assert(file.length <= (7L << 20), s"${file.length} bytes")
    spilled.close()
  }

  test("rows that die in the sequence in which they came need few pages") {
    val manager = memory()
    val store = this.store(manager, 1)
    val row = Rows.of(LongType)(Seq(1L))
    val queue = mutable.Queue.empty[Long]
    for (_ <- 1 to 1000000) {
      queue.enqueue(store.put(row))
      if (queue.size > 1000) store.free(queue.dequeue())
    }
    assert(store.getUsed <= 512 * 1024, s"${store.getUsed} bytes for 1,000 small rows")
    store.clear()
  }

  private val columns = Seq(
    AttributeReference("text", StringType)(),
    AttributeReference("number", LongType)()
  )
  private val ranks = Seq.fill(3)(Literal(0L))
  private val source = Rows.of(StringType, LongType)
  private def reader(keys: Expression*): Int => SideReader = reader(KeyForm.of(keys))
  private def reader(form: KeyForm): Int => SideReader = {
    val reader = SideReader.create(form, ranks, columns)
    id => {
      reader.read(source(Seq(UTF8String.fromString("k" * (id % 40) + id), id.toLong)))
      reader
    }
  }
  private def textReader = reader(KeyForm.inMemory(columns.take(1)))

  for (
    (what, table, key) <- Seq(
      ("a row", () => new RowKeyTable, reader(columns: _*)),
      ("a long", () => new WholeKeyTable, reader(columns(1))),
      ("a text", () => new TextKeyTable, textReader),
      (
        "a row, all of one hash",
        () => new RowKeyTable { override def hashOf(key: RowKey) = 7 },
        reader(columns: _*)
      ),
      (
        "a long, all of one hash",
        () => new WholeKeyTable { override def slotHashOf(key: RowKey) = 7 },
        reader(columns(1))
      ),
      (
        "a text, all of one hash",
        () => new TextKeyTable { override def hashOf(key: RowKey) = 7 },
        textReader
      )
    )
  )
    test(s"a key is found if and only if it was claimed and not released ($what)") {
      val random = new Random(11)
      val keys = table()
      // More than may be idle.
      val ids = if (what.contains("hash")) 400 else 3000
      val claimed = mutable.Map.empty[Int, KeyGroup]
      for (turn <- 1 to 50000) {
        val id = random.nextInt(ids)
        val found = keys.find(key(id))
        assertEquals(Option(found), claimed.get(id))
        if (random.nextBoolean()) claimed(id) = keys.claim(key(id))
        else
          claimed.remove(id).foreach { group =>
            if (random.nextBoolean()) keys.release(group) else keys.releaseUnused(group)
          }
        if (turn % 10000 == 0) {
          keys.clear()
          claimed.clear()
        }
        assertEquals(keys.size, claimed.size)
      }
    }

  for (
    (what, make, key) <- Seq[(String, IndexMemory => HashKeyTable, Int => SideReader)](
      ("rows", new RowKeyTable(_), reader(columns: _*)),
      ("longs", new WholeKeyTable(_), reader(columns(1))),
      ("texts", new TextKeyTable(_), textReader)
    )
  )
    test(
      s"keys that come and go are counted while they are there, and with them their runs ($what)"
    ) {
      val counted = new Counted
      val keys = make(counted)
      def fill(): Unit = for (id <- 0 until 5000) {
        val group = keys.claim(key(id))
        // Two rows of a side make a run, of 120 bytes.
        for (entry <- 0 to 1) group.insert(Side.Left, entry, Array(1L, 2L))
      }
      def empty(): Unit = for (id <- 0 until 5000) {
        val group = keys.find(key(id))
        for (entry <- 0 to 1) group.remove(Side.Left, entry, entry + 1L)
        keys.release(group)
      }
      fill()
      val first = counted.bytes
      assert(first >= 5000 * (48 + 120) && first < 5000 * (48 + 120 + 120), s"$first bytes")
      empty()
      // 1,024 groups and the slots are kept.
      assert(counted.bytes < first / 2, s"${counted.bytes} of $first bytes")
      fill()
      assert(counted.bytes < first * 11 / 10, s"${counted.bytes} bytes, after $first")
      keys.clear()
      assertEquals(counted.bytes, 0L)
    }

  private class Counted extends IndexMemory {
    var bytes = 0L
    override def add(more: Long): Unit = bytes += more
  }

  test("rows go to disk to make room for the index, which leaves four pages to others") {
    val manager = memory(most = 8L << 20)
    val target = new Target
    val store = new PagedRowStore(manager, 2, target)
    val row = Rows.of(LongType, BinaryType)(Seq(1L, new Array[Byte](1000)))
    for (_ <- 1 to 6000) store.put(row)
    assertEquals(target.bytes, 0L)
    val index = new TaskIndexMemory(manager)
    val others = 4 * manager.pageSizeBytes
    for (_ <- 1 to 300) index.add(10000)
    assert(target.bytes > 0)
    assert(index.getUsed >= index.size, s"${index.getUsed} of ${index.size} bytes")
    // More than there is: what Spark does not grant is taken all the same.
    for (_ <- 1 to 3000) index.add(10000)
    assertEquals(index.size, 33000000L)
    assert(index.getUsed <= (8L << 20) - others, s"${index.getUsed} bytes")
    for (_ <- 1 to 6000) store.put(row)
    index.add(-33000000L)
    assert(index.getUsed <= (1L << 20), s"${index.getUsed} bytes for nothing")
    store.clear()
    index.clear()
    assertEquals(manager.cleanUpAllAllocatedMemory(), 0L)
  }

  test("an index that is small asks for little, whatever Spark's pages are") {
    var mostAsked = 0L
    val manager = new TaskMemoryManager(unified(offHeap = false, 64L << 20), 0) {
      override def acquireExecutionMemory(required: Long, consumer: MemoryConsumer): Long = {
        mostAsked = math.max(mostAsked, required)
        super.acquireExecutionMemory(required, consumer)
      }
    }
    assert(manager.pageSizeBytes >= (1L << 20))
    val index = new TaskIndexMemory(manager)
    index.add(2000)
    assert(mostAsked > 0 && mostAsked <= (512L << 10), s"$mostAsked bytes")
    index.clear()
  }

  /** 1,000 keys dealt at random into 1,024 places meet some 638 of them. */
  private def assertNotCrowded(table: HashKeyTable, keys: Iterator[RowKey]): Unit = {
    val homes = keys.take(1000).map(table.slotHash(_) & 1023).toSet.size
    assert(homes > 550, s"1,000 keys stand in $homes places of 1,024")
  }

  test("the keys that Spark's shuffle sends to one task do not crowd the table") {
    for (
      (table, key, dealtBy) <- Seq(
        (new RowKeyTable, reader(columns: _*), columns(1)),
        (new WholeKeyTable, reader(columns(1)), columns(1)),
        (new TextKeyTable, textReader, columns(0))
      )
    ) {
      val hash = new Murmur3Hash(Seq(dealtBy))
      val partition = BindReferences.bindReference[Expression](Pmod(hash, Literal(256)), columns)
      val ofOneTask = Iterator.from(0).filter(id => partition.eval(key(id).row) == 3)
      assertNotCrowded(table, ofOneTask.map(key))
    }
  }

  for (
    (what, number) <- Seq(
      "whole numbers" -> columns(1),
      "multiples of 1,024" -> Multiply(columns(1), Literal(1024L)),
      "multiples of 2 to the 32nd" -> Multiply(columns(1), Literal(1L << 32)),
      "doubles that are whole numbers" -> Cast(columns(1), DoubleType),
      "floats that are whole numbers" -> Cast(columns(1), FloatType),
      "doubles with two digits after the point" ->
        Divide(Cast(columns(1), DoubleType), Literal(100.0))
    )
  )
    test(s"keys that follow one another do not crowd the table: $what") {
      assertNotCrowded(new WholeKeyTable, Iterator.from(1).map(reader(number)))
    }
}
