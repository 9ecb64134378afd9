// SPDX-License-Identifier: Apache-2.0
package plait.spark.continuous

import java.nio.file.Files

import com.fasterxml.jackson.databind.ObjectMapper
import munit.FunSuite

/** Examples: what is kept of a stream's progress, and what is written down of tables. */
class NewestRecordsSuite extends FunSuite {
  test("the newest are kept, numbered from 1, however many were added") {
    val records = new NewestRecords(2)
    assertEquals(records.last, None)
    Seq("a", "b", "c").foreach(records.add)
    assertEquals(records.after(0, 0), Seq(2L -> "b", 3L -> "c"))
    assertEquals(records.after(2, 0), Seq(3L -> "c"))
    assertEquals(records.last, Some(3L -> "c"))
  }

  test("who has seen all waits for the next one, and no longer than told") {
    val records = new NewestRecords(2)
    records.add("a")
    assertEquals(records.after(1, 50), Nil)
    val adding = new Thread(() => { Thread.sleep(50); records.add("b") })
    adding.start()
    assertEquals(records.after(1, 60000), Seq(2L -> "b"))
    adding.join()
  }

  test("the end wakes those who wait") {
    val records = new NewestRecords(2)
    val ending = new Thread(() => { Thread.sleep(50); records.end() })
    ending.start()
    assertEquals(records.after(0, 60000), Nil)
    assert(records.isOver)
    ending.join()
  }

  test("a folder of tables is one server's at a time, is read as it was written, and swept") {
    val root = Files.createTempDirectory("plait-tables")
    val (one, other) = (new TableFolder(root), new TableFolder(root))
    assert(one.lock())
    val taking = new Thread(() => { Thread.sleep(50); one.unlock() })
    taking.start()
    assert(other.lock())
    taking.join()
    assertEquals(other.read(), Nil)
    val table = new ContinuousTable(
      new ObjectMapper().readTree(
        """{"id": "i", "name": ["spark_catalog", "d", "n"], "owner": "o"}"""
      )
    )
    other.write(Seq(table))
    assertEquals(other.read().map(_.root), Seq(table.root))
    Files.createDirectories(other.rows(table))
    other.sweep(Seq(table))
    assert(Files.exists(other.rows(table)))
    other.sweep(Nil)
    assert(!Files.exists(other.rows(table)))
    other.unlock()
  }

  test("folders of tables outlive the loss of what names them, also where a table is made anew") {
    val folder = new TableFolder(Files.createTempDirectory("plait-tables"))
    def table(id: String) = new ContinuousTable(
      new ObjectMapper().readTree(
        s"""{"id": "$id", "name": ["spark_catalog", "d", "$id"], "owner": "o"}"""
      )
    )
    Seq("old", "new").foreach(id => Files.createDirectories(folder.rows(table(id))))
    folder.sweep(Nil)
    assert(Files.exists(folder.rows(table("old"))))
    folder.write(Seq(table("new")))
    folder.sweep(Seq(table("new")))
    assert(Files.exists(folder.root.resolve("left/old/rows")))
    assert(Files.exists(folder.rows(table("new"))))
  }
}
