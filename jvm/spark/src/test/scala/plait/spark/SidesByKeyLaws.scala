// SPDX-License-Identifier: Apache-2.0
// Laws and examples: joins of two sides that are known to come by key; the oracle is NestedLoopJoin.
package plait.spark

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{BooleanType, IntegerType, LongType, StringType}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import plait.join.{NestedLoopJoin, Rankless}
import plait.spark.exec.{JoinSpec, SymmetricHashJoinTask}
import plait.spark.side._
import plait.spark.translate.OrderValue
import plait.{BySide, Cases, Side}

class SidesByKeyLaws extends SparkSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  import SidesByKeyLaws._

  private def inTask[A: scala.reflect.ClassTag](body: => A): A =
    spark.sparkContext.parallelize(Seq(0), 1).map(_ => body).collect().head

  for (joinType <- Types; form <- Forms)
    test(s"$joinType of sides by key, ${form.name}: the rows of the nested loop") {
      val metrics = JoinMetrics.create(spark.sparkContext)
      val seed = Cases.seed
      val Tried(reads, rows, many, wrong) = inTask(tried(joinType, form, metrics, seed))
      assertEquals(wrong, Nil, s"seed $seed")
      // Each row that was read is counted once, whichever way it was joined. What is joined by rank may leave some unread
      // that were stored.
      def of(name: String) = metrics(name).value
      assertEquals(of(JoinMetrics.OutputRows), rows)
      val in = Side.both.map(side => of(JoinMetrics.rowsIn(side))).sum
      assert(
        in == reads || (joinType != FullOuter && in < reads && in > reads * 9 / 10),
        s"$in, $reads"
      )
      assert(of(JoinMetrics.RowsByKey) > reads / 4, "few went by key")
      assert(of(JoinMetrics.RowsByKey) < reads && many > 5, "no key has many rows")
    }

  private def readOf(joinType: JoinType, left: Seq[Long], right: Seq[Long]): BySide[Int] = {
    val metrics = JoinMetrics.create(spark.sparkContext)
    inTask {
      def rows(keys: Seq[Long]) = keys.zipWithIndex.map { case (k, n) =>
        Row(n.toLong, Some(k), Some(1))
      }
      joined(join(joinType, OneLong, metrics), OneLong, BySide(rows(left), rows(right)))._2
    }
  }

  test("INNER: neither side is read on once the other is over") {
    assertEquals(readOf(Inner, Seq(1, 2), Seq(2, 2, 3, 4, 5)), BySide(2, 3))
    assertEquals(readOf(Inner, Seq(1, 2, 7, 8, 9), Seq(2, 5)), BySide(3, 2))
    assertEquals(readOf(Inner, Nil, Seq(1, 2)), BySide(0, 0))
    assertEquals(readOf(Inner, Seq(1, 2), Nil), BySide(1, 0))
  }

  test("a side whose rows come out alone is read to its end") {
    assertEquals(readOf(LeftOuter, Seq(1, 2, 7, 8), Seq(2, 3)), BySide(4, 2))
    assertEquals(readOf(RightOuter, Seq(1), Seq(2, 3, 3)), BySide(1, 3))
    assertEquals(readOf(FullOuter, Nil, Seq(2, 3, 3)), BySide(0, 3))
  }

  test("the first pair comes before the third key is read") {
    val metrics = JoinMetrics.create(spark.sparkContext)
    val read = inTask(readForOne(join(Inner, OneLong, metrics)))
    assertEquals(read, BySide(1, 2))
  }

  for (
    (side, keys) <- Seq(
      Side.Left -> Seq(Some(1L), Some(3L), Some(2L)),
      Side.Right -> Seq(Some(1L), None, Some(1L))
    )
  )
    test(s"rows of the ${side.name} side that do not come by key end the join: ${keys.flatten}") {
      val metrics = JoinMetrics.create(spark.sparkContext)
      val error = intercept[org.apache.spark.SparkException] {
        inTask {
          val bad = keys.map(Row(0, _, Some(1)))
          val good = Seq.tabulate(5)(n => Row(n.toLong, Some(n.toLong), Some(1)))
          val tables = BySide.make(s => if (s eq side) bad else good)
          joined(join(FullOuter, OneLong, metrics), OneLong, tables)._2
        }
      }
      assert(
        error.getMessage.contains(s"The rows of the ${side.name} side of a join do not come in"),
        error.getMessage
      )
    }
}

private object SidesByKeyLaws {
  val Types: Seq[JoinType] = Seq(
    Inner,
    LeftOuter,
    RightOuter,
    FullOuter,
    LeftSemi,
    LeftAnti,
    ExistenceJoin(AttributeReference("exists", BooleanType)())
  )

  final case class Row(id: Long, key: Option[Long], time: Option[Int])

  /** How keys are written: they keep their sequence. */
  sealed abstract class Form(val name: String) extends Serializable {
    val keys: Seq[AttributeReference]
    def values(key: Option[Long]): Seq[Any]
    val id: AttributeReference = AttributeReference("id", LongType)()
    val time: AttributeReference = AttributeReference("t", IntegerType)()
    def output: Seq[AttributeReference] = Seq(id, time) ++ keys
    @transient private lazy val made = Rows.of(output.map(_.dataType): _*)
    def row(of: Row): InternalRow =
      made(Seq(of.id, of.time.getOrElse(null)) ++ values(of.key))
  }

  case object OneLong extends Form("a long") {
    val keys: Seq[AttributeReference] = Seq(AttributeReference("k", LongType)())
    def values(key: Option[Long]): Seq[Any] = Seq(key.orNull)
  }

  /** Which would share a long; the second is negative in half of them. */
  case object TwoIntegers extends Form("two integers") {
    val keys: Seq[AttributeReference] = Seq("a", "b").map(AttributeReference(_, IntegerType)())
    def values(key: Option[Long]): Seq[Any] = key match {
      case None => Seq(1, null)
      case Some(k) => Seq(Math.floorDiv(k, 4L).toInt, Math.floorMod(k, 4L).toInt - 2)
    }
  }

  case object OneText extends Form("a text") {
    val keys: Seq[AttributeReference] = Seq(AttributeReference("k", StringType)())
    def values(key: Option[Long]): Seq[Any] =
      Seq(key.fold[UTF8String](null)(k => UTF8String.fromString(f"${k + 50}%05d")))
  }

  /** How many rows were read of random tables and how many came out, how many right keys had many rows, and in which cases
    * rows differ.
    */
  final case class Tried(reads: Long, rows: Long, many: Int, wrong: Seq[String])

  def tried(
      joinType: JoinType,
      form: Form,
      metrics: Map[String, SQLMetric],
      seed: Long
  ): Tried = {
    val random = new Random(seed + joinType.hashCode)
    val wrong = mutable.ArrayBuffer.empty[String]
    var (reads, rows, many) = (0L, 0L, 0)
    for (number <- 0 until Cases.of(200, soak = 6000)) {
      val tables = BySide(table(random), table(random))
      val (all, read) = joined(join(joinType, form, metrics), form, tables)
      val found = if (givesPairs(joinType)) all else all.map(foundOnce).sorted
      val wanted = expected(joinType, tables)
      if (found != wanted)
        wrong += s"case $number: too many ${found.diff(wanted)}, missing ${wanted.diff(found)}"
      reads += read.left + read.right
      rows += all.size
      many += tables.right.flatMap(_.key).groupBy(identity).count(_._2.size > FewRows.Most)
    }
    Tried(reads, rows, many, wrong.toSeq)
  }

  /** How many rows of each side are read for the first pair. */
  def readForOne(task: SymmetricHashJoinTask): BySide[Int] = {
    val read = mutable.Map.empty[Side, Int].withDefaultValue(0)
    val pairs = task.join(BySide.make { side =>
      Iterator.tabulate(1000) { n =>
        read(side) += 1
        OneLong.row(Row(n.toLong, Some(n.toLong), Some(1)))
      }
    })
    require(pairs.advance())
    BySide.make(read(_))
  }

  val Forms: Seq[Form] = Seq(OneLong, TwoIntegers, OneText)

  private val Width = 3

  /** Rows by key; NULL keys stand at either end, a NULL time anywhere. */
  def table(random: Random): Seq[Row] = {
    val rows = Seq(0, 1, 10, 40, 150, 900)(random.nextInt(6))
    val keys = Seq(1, 3, 10, 100)(random.nextInt(4))
    val all = Seq.tabulate(rows) { n =>
      val key = Option.when(random.nextInt(12) > 0)(random.nextInt(keys).toLong - keys / 3)
      Row(n.toLong, key, Option.when(random.nextInt(9) > 0)(random.nextInt(50)))
    }
    val (keyed, without) = all.partition(_.key.isDefined)
    val sorted = keyed.sortBy(_.key.get)
    if (random.nextBoolean()) without ++ sorted else sorted ++ without
  }

  private def isMatch(l: Row, r: Row): Boolean =
    l.key.isDefined && l.key == r.key &&
      l.time.exists(a => r.time.exists(b => a <= b && b <= a + Width))

  def givesPairs(joinType: JoinType): Boolean = joinType match {
    case LeftSemi | LeftAnti | ExistenceJoin(_) => false
    case _ => true
  }

  /** A left row whose match does not come out. */
  def foundOnce(pair: (Long, Long)): (Long, Long) =
    if (pair._2 == Nobody) pair else pair._1 -> Found

  def expected(joinType: JoinType, tables: BySide[Seq[Row]]): Seq[(Long, Long)] = {
    val roles = JoinOutput.roles(joinType).get
    val matched = NestedLoopJoin.matched(roles, tables.left, tables.right)(isMatch).map {
      case (l, r) => (l.id, r.fold(Found)(_.id))
    }
    val left = NestedLoopJoin.alone(roles.left, tables.left, tables.right)(isMatch)
    val right =
      NestedLoopJoin.alone(roles.right, tables.right, tables.left)((r, l) => isMatch(l, r))
    (matched ++ left.map(_.id -> Nobody) ++ right.map(Nobody -> _.id)).sorted
  }

  private val Nobody = -1L
  private val Found = -2L

  def join(
      joinType: JoinType,
      form: Form,
      metrics: Map[String, SQLMetric],
      sequence: KeySequence = KeySequence.Known,
      radix: RadixJoinChoice = RadixJoinChoice.Auto,
      isSortedHere: Boolean = true
  ): SymmetricHashJoinTask = {
    // Both sides have a form's columns; other names would not be told apart by more.
    val right = form.output.map(_.newInstance())
    def at(side: Side, column: AttributeReference) =
      if (side eq Side.Left) column else right(form.output.indexOf(column))
    val width = Literal(Width)
    val (l, r) = (at(Side.Left, form.time), at(Side.Right, form.time))
    val ranks = BySide(
      Seq(OrderValue(l), OrderValue(l), OrderValue(Add(l, width))),
      Seq(OrderValue(r), OrderValue(Subtract(r, width)), OrderValue(r))
    )
    val condition = And(LessThanOrEqual(l, r), LessThanOrEqual(r, Add(l, width)))
    val plans = BySide.make { side =>
      SidePlan(
        form.keys.map(at(side, _)),
        ranks(side),
        form.output.map(at(side, _)),
        isSortedHere
      )
    }
    val spec = JoinSpec(
      joinType,
      plans,
      BySide(Rankless.Dead, Rankless.Dead),
      Some(condition),
      sequence,
      radix,
      metrics,
      None
    )
    new SymmetricHashJoinTask(spec)
  }

  /** What comes out, in sequence, and how many rows of each side were read. */
  def joined(
      task: SymmetricHashJoinTask,
      form: Form,
      tables: BySide[Seq[Row]]
  ): (Seq[(Long, Long)], BySide[Int]) = {
    val read = mutable.Map.empty[Side, Int].withDefaultValue(0)
    val pairs = task.join(BySide.make { side =>
      // The same object for all rows, as generated code has it.
      val lent = new UnsafeRow(form.output.size)
      lent.pointTo(Array.emptyByteArray, Platform.BYTE_ARRAY_OFFSET, 0)
      tables(side).iterator.map { row =>
        read(side) += 1
        lent.copyFrom(form.row(row).asInstanceOf[UnsafeRow])
        lent
      }
    })
    val found = mutable.ArrayBuffer.empty[(Long, Long)]
    while (pairs.advance()) {
      val left = Option(pairs.left).fold(Nobody)(_.getLong(0))
      val right = Option(pairs.right).fold(Nobody)(_.getLong(0))
      found += left -> right
    }
    (found.toSeq.sorted, BySide.make(read(_)))
  }
}
