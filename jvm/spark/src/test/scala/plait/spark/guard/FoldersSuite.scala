// SPDX-License-Identifier: Apache-2.0
package plait.spark.guard

import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration

/** Examples: which paths lie in the opened folders, by themselves and in statements. */
class FoldersSuite extends GuardSuite {
  private lazy val root = Files.createTempDirectory("guard").toRealPath()
  private lazy val open = Files.createDirectories(root.resolve("open"))
  private lazy val inside = Files.createDirectories(open.resolve("in side"))
  private lazy val linked = Files.createDirectories(open.resolve("linked"))
  private lazy val secret = Files.createDirectories(root.resolve("secret"))
  private lazy val opened = Files.createDirectories(root.resolve("opened"))

  override def beforeAll(): Unit = {
    Seq(open, inside, secret, opened).foreach(f => Files.writeString(f.resolve("a.csv"), "1,x\n"))
    Files.createSymbolicLink(open.resolve("out"), secret)
    Files.createSymbolicLink(open.resolve("in"), inside)
    Files.createSymbolicLink(linked.resolve("a.csv"), secret.resolve("a.csv"))
    Files.createSymbolicLink(root.resolve("way-in"), inside)
    ()
  }

  private def folders(paths: String*) = new Folders(paths, new Configuration())
  private def opens(path: String): Boolean = folders(inside.toString, linked.toString).opens(path)

  test("a folder opens itself and what lies in it, there or not yet") {
    val file = inside.resolve("a.csv")
    for (
      path <- Seq(
        s"$inside",
        s"$inside/",
        s"$file",
        s"file:$file",
        s"file://$file",
        s"FILE:$file",
        s"$inside/new/x"
      )
    )
      assert(opens(path), path)
  }

  test("a folder does not open its neighbours, its parent or the whole file system") {
    for (
      path <- Seq(
        s"$open",
        s"$opened",
        s"${inside}x",
        s"$inside/../secret/a.csv",
        s"$inside/../../..",
        "/",
        "/etc"
      )
    )
      assert(!opens(path), path)
  }

  test("dots that stay in the folder are allowed") {
    assert(opens(s"$inside/x/../a.csv"))
    assert(opens(s"$inside/./a.csv"))
  }

  test("a relative path, an empty one and one that is none are in no folder") {
    for (path <- Seq("", ".", "..", "a.csv", "in side/a.csv", "file:a.csv", "~", "a:b:c", " /etc"))
      assert(!opens(path), path)
  }

  test("another scheme or host is another place") {
    for (
      path <- Seq(s"hdfs://h$inside", s"s3a://b$inside", s"http://h$inside", s"jar:file:$inside")
    )
      assert(!opens(path), path)
    val bucket = folders("s3a://b/data")
    assert(bucket.opens("s3a://b/data/x"))
    assert(bucket.opens("S3A://b/data/x/../y"))
    assert(!bucket.opens("s3a://b/data/../x"))
    assert(!bucket.opens("s3a://c/data/x"))
    assert(!bucket.opens("/data/x"))
  }

  test("links are followed: one that leads out is out, one that leads in is in") {
    assert(!folders(open.toString).opens(s"$open/out/a.csv"))
    assert(!folders(open.toString).opens(s"$open/out"))
    assert(opens(s"$open/in/a.csv"))
    assert(opens(s"$root/way-in/a.csv"))
  }

  test("a folder that holds a link out of the grant is not opened as a whole") {
    assert(!opens(s"$linked"))
    assert(!folders(open.toString).opens(s"$open"))
    assert(folders(open.toString, secret.toString).opens(s"$open"))
  }

  test("a pattern is opened if all that it matches is") {
    assert(opens(s"$inside/*.csv"))
    assert(opens(s"$inside/{a,b}.csv"))
    assert(!opens(s"$open/*/a.csv"))
    assert(!opens(s"$linked/*"))
    assert(!opens(s"$root/secre?/a.csv"))
    assert(!opens("/et[c]/passwd"))
    assert(!opens("{/etc/passwd,/etc/hosts}"))
  }

  test("a pattern does not climb out, whether it matches anything or not") {
    for (
      pattern <- Seq(
        s"$inside/{../none/*.csv,a.csv}",
        s"$inside/{../../private/*.csv,a.csv}",
        s"$inside/{../../secret/none*,a.csv}",
        s"$inside/{..,x}/a.csv",
        s"$inside/{x/.,y}./a.csv",
        s"$inside/.{.,x/y}/a.csv",
        s"$inside/*/{a,../../../etc/b}",
        s"$inside/\\.\\./secret/*.csv",
        s"$inside/a\\.csv"
      )
    ) assert(!opens(pattern), pattern)
    assert(opens(s"$inside/{x/y,z}/*.csv"))
    assert(opens(s"$inside/*..csv"))
  }

  test("an interrupt ends the look for links in a folder") {
    @volatile var thrown = Option.empty[Throwable]
    val looking = new Thread(() => {
      Thread.currentThread.interrupt()
      try opens(s"$inside"): Unit
      catch { case error: InterruptedException => thrown = Some(error) }
    })
    looking.start()
    looking.join()
    assert(thrown.isDefined)
  }

  test("no folders open nothing") {
    assert(!folders().opens(s"$inside/a.csv"))
    assert(!folders("relative").opens("relative/a.csv"))
  }

  private def grantOf(folder: Path, scopes: Scope*) =
    Grant(scopes.toSet, Seq(folder.toString), Nil)

  test("a reader reads files of its folder, by name, by view and by pattern, and no others") {
    val expected = Seq(
      s"SELECT * FROM csv.`$inside/a.csv`" -> "admitted",
      s"SELECT * FROM csv.`$inside/*.csv` WITH (header = 'true')" -> "admitted",
      s"SELECT * FROM IDENTIFIER('csv.`$inside`')" -> "admitted",
      s"EXPLAIN SELECT * FROM csv.`$inside`" -> "admitted",
      s"CREATE TEMPORARY VIEW files USING csv OPTIONS (path '$inside', header 'true')" -> "admitted",
      s"CREATE TEMPORARY VIEW files AS SELECT * FROM text.`$inside/a.csv`" -> "admitted",
      s"SELECT * FROM csv.`$secret/a.csv`" -> "PATH_NOT_ALLOWED",
      s"SELECT * FROM csv.`$inside/../../secret/a.csv`" -> "PATH_NOT_ALLOWED",
      s"SELECT * FROM binaryFile.`$inside`" -> "FORMAT_NOT_ALLOWED",
      s"SELECT * FROM csv.`$inside/missing`" -> "Spark's",
      s"SELECT * FROM csv.`$inside` WITH ('path' = '$secret')" -> "OPTION_NOT_ALLOWED",
      s"INSERT OVERWRITE DIRECTORY '$inside/out' USING csv SELECT 1" -> "SCOPE_NOT_GRANTED"
    )
    assertOutcomes(expected, grantOf(inside, Scope.Read))
  }

  test("an admin writes into its folder, and nowhere else") {
    run("CREATE TABLE IF NOT EXISTS parts (a INT, p INT) USING parquet PARTITIONED BY (p)")
    val expected = Seq(
      s"INSERT OVERWRITE DIRECTORY '$inside/out' USING csv SELECT 1" -> "admitted",
      s"INSERT OVERWRITE LOCAL DIRECTORY '$inside/out' USING csv SELECT 1" -> "admitted",
      s"INSERT INTO csv.`$inside` SELECT 1, 'x'" -> "Spark's",
      s"CREATE TABLE n (a INT) USING parquet LOCATION '$inside/n'" -> "admitted",
      s"CREATE TABLE n (a INT) USING csv OPTIONS (path '$inside/n')" -> "admitted",
      s"CREATE TABLE n USING parquet LOCATION '$inside/n' AS SELECT 1 AS a" -> "admitted",
      s"CREATE DATABASE n LOCATION '$inside/n'" -> "admitted",
      s"ALTER TABLE parts ADD PARTITION (p = 1) LOCATION '$inside/1'" -> "admitted",
      s"ALTER TABLE parts ADD PARTITION (p = 1) LOCATION '$secret/1'" -> "PATH_NOT_ALLOWED",
      s"CREATE TABLE n (a INT) USING parquet LOCATION '$secret/n'" -> "PATH_NOT_ALLOWED",
      s"CREATE TABLE n (a INT) USING parquet LOCATION '$open/out/n'" -> "PATH_NOT_ALLOWED",
      s"INSERT INTO csv.`$secret` SELECT 1, 'x'" -> "PATH_NOT_ALLOWED"
    )
    try assertOutcomes(expected, grantOf(inside, Scope.Admin))
    finally run("DROP TABLE parts")
  }

  test("a table of the catalog is read wherever its files lie, and wins over a path of its name") {
    run(s"CREATE TABLE elsewhere (a INT, b STRING) USING csv LOCATION '$secret'")
    run("CREATE DATABASE csv")
    run(s"CREATE TABLE csv.x (a INT, b STRING) USING csv LOCATION '$secret'")
    try
      assertOutcomes(
        Seq(
          "SELECT * FROM elsewhere" -> "admitted",
          "SELECT * FROM csv.x" -> "admitted",
          "SELECT * FROM csv.y" -> "PATH_NOT_ALLOWED"
        ),
        reader
      )
    finally {
      run("DROP TABLE elsewhere")
      run("DROP DATABASE csv CASCADE")
    }
  }

  test("a stream's folder whose notes name files of elsewhere is read only if those are open too") {
    val logged = Files.createDirectories(inside.resolve("logged/_spark_metadata")).getParent
    val part = Files.createDirectories(secret.resolve("day=1"))
    def note(file: Path): Unit = {
      Files.writeString(file, "1,x\n")
      val told = s"""{"path":"${file.toUri}","size":4,"isDir":false,"modificationTime":1,""" +
        """"blockReplication":1,"blockSize":1000,"action":"add"}"""
      Files.writeString(logged.resolve("_spark_metadata/0"), s"v1\n$told"): Unit
    }
    val statements =
      Seq(s"SELECT * FROM csv.`$logged`", s"EXPLAIN SELECT * FROM text.`$logged`")
    val recursive = s"SELECT * FROM csv.`$logged` WITH (recursiveFileLookup = 'true')"
    def assertAll(outcome: String, folders: Path*): Unit =
      for (files <- Seq("csv,text", ""))
        withConf("spark.sql.sources.useV1SourceList" -> files) {
          val grant = Grant(Set(Scope.Read), folders.map(_.toString), Nil)
          assertOutcomes((statements :+ recursive).map(_ -> outcome), grant)
        }
    note(part.resolve("p.csv"))
    assertAll("PATH_NOT_ALLOWED", inside)
    assertAll("admitted", inside, part)
    note(logged.resolve("p.csv"))
    assertAll("admitted", inside)
  }

  test("a view of the session over files is looked at again where it is used") {
    run(s"CREATE TEMPORARY VIEW by_server USING csv OPTIONS (path '$secret')")
    run(s"CREATE TEMPORARY VIEW by_query AS SELECT * FROM csv.`$secret`")
    assertOutcomes(
      Seq("by_server", "by_query").map(v => s"SELECT * FROM $v" -> "PATH_NOT_ALLOWED"),
      reader
    )
    assertOutcomes(
      Seq("by_server", "by_query").map(v => s"SELECT * FROM $v" -> "admitted"),
      grantOf(secret, Scope.Read)
    )
  }
}
