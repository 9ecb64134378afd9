// SPDX-License-Identifier: Apache-2.0
package plait.bench

import java.io.PrintWriter
import java.lang.management.ManagementFactory
import java.nio.ByteBuffer
import java.nio.file.{Files, Path}

/** The core alone over tables that come in batches: the JVM's half of `benchmarks/article`.
  *
  * {{{
  * ./sbt "bench/runMain plait.bench.Article FOLDER RUNS"
  *
  * FOLDER/l-8-8192.bin      a table of 8 keys and 8,192 rows: all keys, then all s, as 64-bit integers
  * FOLDER/times.csv         keys,rows,batch,seconds,peak,pairs,left,right: a line a size, the median
  * FOLDER/jdk.txt           the version of the JDK
  * FOLDER/buffered.csv      keys,read,left,right: rows buffered after so many rows read
  * }}}
  *
  * The tables are in memory before the clock starts; one thread joins them, and seconds are those that
  * the processor gave it for one join, so that what else the machine does is not in them.
  */
object Article {
  private val Keys = Seq(8, 64, 1024)
  private val Rows = Seq(8192, 16384, 32768, 65536)
  private val Batches = Seq(128, 512, 2048, 4096)
  private val WarmUp = 300
  private val clock = ManagementFactory.getThreadMXBean

  def main(arguments: Array[String]): Unit = {
    val folder = Path.of(arguments(0))
    val runs = arguments(1).toInt
    val tables = for {
      keys <- Keys
      rows <- Rows
      left = folder.resolve(s"l-$keys-$rows.bin")
      if Files.exists(left)
    } yield (keys, rows, read(left), read(folder.resolve(s"r-$keys-$rows.bin")))

    Files.writeString(folder.resolve("jdk.txt"), System.getProperty("java.version"))
    write(folder.resolve("times.csv"), "keys,rows,batch,seconds,peak,pairs,left,right") { out =>
      tables.headOption.foreach { case (_, _, left, right) => rounds(left, right, WarmUp) }
      for {
        (keys, rows, left, right) <- tables
        (batch, (seconds, found)) <- medians(left, right, runs)
      }
        out.println(
          s"$keys,$rows,$batch,$seconds,${found.peak},${found.pairs},${found.left},${found.right}"
        )
    }
    write(folder.resolve("buffered.csv"), "keys,read,left,right") { out =>
      for ((keys, rows, left, right) <- tables if rows == tables.map(_._2).max)
        new BatchedJoin(left, right, Batches.head).trace { (read, held) =>
          out.println(s"$keys,$read,${held.left},${held.right}")
        }
    }
  }

  private def medians(left: Table, right: Table, runs: Int) = {
    val timed = rounds(left, right, runs)
    Batches.indices.map(n => Batches(n) -> timed.map(_(n)).sortBy(_._1).apply(runs / 2))
  }

  /** Every size of batches in turn, so that what slows a round down slows all of them. Smaller tables are joined several
    * times, so that a lap is as long for all: the least takes a millisecond, and what else happens in it is seen.
    */
  private def rounds(left: Table, right: Table, runs: Int) = {
    val times = math.max(1, Rows.max / left.s.length)
    Seq.fill(runs)(Batches.map { batch =>
      def join() = new BatchedJoin(left, right, batch).run()
      val start = clock.getCurrentThreadCpuTime
      for (_ <- 1 until times) join()
      val found = join()
      ((clock.getCurrentThreadCpuTime - start) / 1e9 / times, found)
    })
  }

  private def read(path: Path): Table = {
    val longs = ByteBuffer.wrap(Files.readAllBytes(path)).asLongBuffer()
    val all = new Array[Long](longs.remaining())
    longs.get(all)
    val (keys, s) = all.splitAt(all.length / 2)
    Table(keys, s)
  }

  private def write(path: Path, head: String)(lines: PrintWriter => Unit): Unit = {
    val out = new PrintWriter(path.toFile)
    out.println(head)
    try lines(out)
    finally out.close()
  }
}

/** Columns of equal length; rows in ascending order of `s`. */
final case class Table(keys: Array[Long], s: Array[Long])
