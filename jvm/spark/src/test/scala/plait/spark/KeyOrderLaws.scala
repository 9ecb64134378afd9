// SPDX-License-Identifier: Apache-2.0
// Laws: the sequence of keys; the oracle is how Spark sorts the columns.
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, RowOrdering}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import plait.Cases
import plait.spark.side.{HeldKey, KeyForm, KeyOrder, SideReader}

class KeyOrderLaws extends munit.FunSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  /** Texts that begin alike for some bytes, and end anywhere; letters of one byte and of several. */
  private def text(random: Random): UTF8String = {
    val letters = "a\u0000b\u007fé€\ud83d\ude00".codePoints.toArray
    def some(count: Int) =
      Seq.fill(count)(Character.toString(letters(random.nextInt(letters.length)))).mkString
    UTF8String.fromString(
      "abcdefghijklmnopqrstuvwxyz".take(random.nextInt(27)) + some(random.nextInt(4))
    )
  }

  private val kinds: Seq[(String, Seq[DataType], Random => Seq[Any])] = Seq(
    ("a text", Seq(StringType), random => Seq(text(random))),
    ("a long", Seq(LongType), random => Seq(random.nextInt(5) - 2L)),
    (
      "a text and an integer",
      Seq(StringType, IntegerType),
      random => Seq(text(random), random.nextInt(3) - 1)
    ),
    ("two integers", Seq(IntegerType, IntegerType), random => Seq.fill(2)(random.nextInt(3) - 1))
  )

  for ((name, types, values) <- kinds)
    test(s"$name: keys stand as Spark sorts them, held or not") {
      val columns = types.map(AttributeReference("k", _)())
      val form = KeyForm.inSequence(columns)
      val order = KeyOrder.of(form).get
      val sparks = RowOrdering.createNaturalAscendingOrdering(types)
      val readers = Seq.fill(2)(SideReader.create(form, Nil, columns))
      val held = new HeldKey
      val rows = Rows.of(types: _*)
      val random = new Random(Cases.seed)
      for (_ <- 0 until Cases.of(20000, soak = 1000000)) {
        val one = rows(values(random)).copy()
        val other = rows(values(random)).copy()
        readers.head.read(one)
        readers.last.read(other)
        held.hold(readers.head)
        val expected = math.signum(sparks.compare(one, other))
        assertEquals(math.signum(order.compare(readers.head, readers.last)), expected)
        assertEquals(math.signum(order.compare(held, readers.last)), expected)
        assertEquals(math.signum(order.compare(readers.last, held)), -expected)
      }
    }
}
