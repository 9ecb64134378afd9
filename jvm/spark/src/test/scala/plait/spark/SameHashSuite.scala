// SPDX-License-Identifier: Apache-2.0
// Examples: joins by bucket of keys that differ and have one hash. The oracle is Spark's own join.
package plait.spark

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.side.{
  HashKeyTable,
  JoinMetrics,
  KeyForm,
  NoKeyTable,
  RowKeyTable,
  SideReader,
  TextKeyTable,
  WholeKeyTable
}

class SameHashSuite extends SparkSuite {
  import SameHashSuite.Keys

  // Of a long the hash is the upper half of its product with the golden ratio: here always 7.
  private val golden = BigInt("9e3779b97f4a7c15", 16)
  private val inverse = golden.modInverse(BigInt(2).pow(64)).toLong
  private val long = Keys(Seq(LongType), new WholeKeyTable, id => Seq(inverse * ((7L << 32) | id)))
  private val text = Keys(Seq(StringType), new TextKeyTable, id => Seq(s"key $id"))
  private val both =
    Keys(Seq(LongType, StringType), new RowKeyTable, id => Seq(id.toLong, s"key $id"))

  /** Pairs of ids whose keys have one hash, of the first so many that some of 2^32 hashes come twice. */
  private def pairs(keys: Keys): Seq[(Int, Int)] = {
    val columns = keys.types.map(AttributeReference("k", _)())
    val reader = SideReader.create(KeyForm.inMemory(columns), Seq.fill(3)(Literal(0L)), columns)
    val row = Rows.of(keys.types: _*)
    val idOf = mutable.HashMap.empty[Int, Int]
    (0 until 400000).iterator
      .flatMap { id =>
        reader.read(row(keys.of(id).map {
          case text: String => UTF8String.fromString(text)
          case other => other
        }))
        idOf.put(keys.table.hash(reader), id).map(_ -> id)
      }
      .take(60)
      .toSeq
  }

  private def table(keys: Keys, ids: Seq[Int]): String = {
    val rows = ids.map { id =>
      val literals = keys.of(id).map {
        case text: String => s"'$text'"
        case other => s"${other}L"
      }
      (s"${id}L" +: literals).mkString("(", ", ", ")")
    }
    val names = "id" +: keys.types.indices.map(n => s"k$n")
    rows.mkString("(SELECT * FROM VALUES ", ", ", names.mkString(" AS t(", ", ", "))"))
  }

  for (
    (types, table) <- Seq(
      Seq(LongType) -> classOf[WholeKeyTable],
      Seq(DateType) -> classOf[WholeKeyTable],
      Seq(IntegerType, ShortType) -> classOf[WholeKeyTable],
      Seq(StringType) -> classOf[TextKeyTable],
      Seq(StringType("UTF8_LCASE")) -> classOf[RowKeyTable],
      Seq(LongType, IntegerType) -> classOf[RowKeyTable],
      Seq(StructType.fromDDL("a INT, b INT")) -> classOf[RowKeyTable],
      Nil -> classOf[NoKeyTable]
    )
  )
    test(s"keys of ${types.map(_.sql).mkString("(", ", ", ")")} are in a ${table.getSimpleName}") {
      val form = KeyForm.inMemory(types.map(AttributeReference("k", _)()))
      assertEquals(HashKeyTable.of(form).getClass.getName, table.getName)
    }

  for ((what, keys) <- Seq("a long" -> long, "a text" -> text, "a long and a text" -> both))
    test(s"rows of keys that have one hash are not of one key ($what)") {
      val found = pairs(keys)
      assert(found.nonEmpty)
      // On the left the one of each pair, on the right the other, and on each side both of every third.
      val some = found.indices.filter(_ % 3 == 0).map(found).flatMap { case (a, b) => Seq(a, b) }
      val left = table(keys, found.map(_._1) ++ some)
      val right = table(keys, found.map(_._2) ++ some)
      val same = keys.types.indices.map(n => s"l.k$n = r.k$n").mkString(" AND ")
      val query = s"SELECT l.id, r.id FROM $left l FULL JOIN $right r ON $same " +
        "AND r.id BETWEEN l.id - 1000000 AND l.id + 1000000"
      def rows = spark.sql(query).collect().map(_.toString).toSeq.sorted
      withConf(PlaitConf.RadixJoin -> "always", "spark.sql.adaptive.enabled" -> "false") {
        val df = spark.sql(query)
        val joined = df.collect().map(_.toString).toSeq.sorted
        val join =
          df.queryExecution.executedPlan.collectFirst { case j: SymmetricHashJoinExec => j }.get
        assert(join.metrics(JoinMetrics.RowsInBuckets).value > 0)
        assertEquals(joined, withConf(PlaitConf.Enabled -> "false")(rows))
      }
    }
}

private object SameHashSuite {

  /** Keys of one type: of each id one, as values of the columns. */
  final private case class Keys(types: Seq[DataType], table: HashKeyTable, of: Int => Seq[Any])
}
