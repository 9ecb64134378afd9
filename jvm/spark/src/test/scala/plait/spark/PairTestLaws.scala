// SPDX-License-Identifier: Apache-2.0
// Laws, and examples: a condition of two rows as generated code, against its evaluation on the row of both.
package plait.spark

import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{BooleanType, DataType, IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import plait.spark.side.PairTest
import plait.{BySide, Cases}

class PairTestLaws extends munit.FunSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest
  private val conditions = Cases.of(60, soak = 2000)

  private def unsafe(columns: Seq[Attribute], values: Seq[Any]): UnsafeRow =
    UnsafeProjection.create(columns.map(_.dataType).toArray)(InternalRow.fromSeq(values)).copy()

  private def columns(types: Seq[DataType], names: String): Seq[AttributeReference] =
    types.zip(names).map { case (t, name) => AttributeReference(name.toString, t)() }

  /** What Spark says of the pair as one row, or that it fails. */
  private def expected(condition: Expression, all: Seq[Attribute], pair: InternalRow) =
    Try(BindReferences.bindReference(condition, new AttributeSeq(all)).eval(pair) == true).toOption

  for (family <- RandomExpressions.families)
    test(s"a condition of (l, r) = the same of l ++ r: ${family.name}, $conditions conditions") {
      val random = new Random(Cases.seed)
      val values = new RandomValues(random)
      val expressions = new RandomExpressions(random, values, "UTC")
      def types() = Seq.fill(2)(family.types(random.nextInt(family.types.size)))
      var isTrue = 0
      for (_ <- 1 to conditions) {
        val sides = BySide(columns(types(), "ab"), columns(types(), "st"))
        val all = sides.left ++ sides.right
        // The head of an expression may be any of its types.
        val condition = Iterator
          .continually(expressions.condition(family, all))
          .find(_.dataType == BooleanType)
          .get
        val test = PairTest.of(condition, sides, 0)
        def some(columns: Seq[Attribute]) =
          Array.fill(6)(unsafe(columns, columns.map(c => values.of(c.dataType))))
        val (lefts, rights) = (some(sides.left), some(sides.right))
        val places = Array.fill(8)(random.nextInt(6))
        def first(isTrue: Int => Boolean) =
          Try(Seq(2, 3, 4, 5, 6).find(isTrue).getOrElse(7)).toOption
        assertEquals(
          Try(test.firstLeft(lefts, rights.head, places, 2, 7)).toOption,
          first(at => test.isTrueOf(lefts(places(at)), rights.head)),
          s"seed ${Cases.seed}: $condition"
        )
        assertEquals(
          Try(test.firstRight(lefts.head, rights, places, 2, 7)).toOption,
          first(at => test.isTrueOf(lefts.head, rights(places(at)))),
          s"seed ${Cases.seed}: $condition"
        )
        val inRow = places.map(rights)
        assertEquals(
          Try(test.firstOf(lefts.head, inRow, 2, 7)).toOption,
          first(at => test.isTrueOf(lefts.head, inRow(at))),
          s"seed ${Cases.seed}: $condition"
        )
        for (_ <- 1 to 20) {
          val rows = sides.map(side => unsafe(side, side.map(c => values.of(c.dataType))))
          val found = Try(test.isTrueOf(rows.left, rows.right)).toOption
          val right = expected(condition, all, new JoinedRow(rows.left, rows.right))
          assertEquals(found, right, s"seed ${Cases.seed}: $condition of $rows")
          if (found.contains(true)) isTrue += 1
        }
      }
      assert(isTrue > conditions, s"only $isTrue were TRUE")
    }

  private val sides = BySide(
    columns(Seq(IntegerType, StringType), "ab"),
    columns(Seq(IntegerType, StringType), "st")
  )

  private def row(side: Seq[Attribute], number: Any, text: String): UnsafeRow =
    unsafe(side, Seq(number, if (text == null) null else UTF8String.fromString(text)))

  private def isTrue(condition: Expression)(left: (Any, String), right: (Any, String)): Boolean =
    PairTest
      .of(condition, sides, 0)
      .isTrueOf(row(sides.left, left._1, left._2), row(sides.right, right._1, right._2))

  /** The names of what a condition's class does itself, but for what Spark has split. */
  private def methods(condition: Expression): Set[String] = PairTest
    .of(condition, sides, 0)
    .getClass
    .getDeclaredMethods
    .map(_.getName)
    .filter(Set("initialize", "isTrue", "isTrueOf", "firstLeft", "firstRight", "firstOf"))
    .toSet

  test("what has no code of its own is evaluated of both rows: a = s, without code") {
    val test = isTrue(SameWithoutCode(sides.left.head, sides.right.head)) _
    assert(test((7, "x"), (7, "y")))
    assert(!test((7, "x"), (8, "x")))
  }

  test(
    "a condition longer than one method of Java's: b || 'n' is none of 500 texts, and t one of 500"
  ) {
    val many = (1 to 500).map(n => Literal(UTF8String.fromString(s"text $n"), StringType))
    val none = many.map(text => Not(EqualTo(Concat(Seq(sides.left(1), Literal("n"))), text)))
    val test = isTrue((none :+ In(sides.right(1), many)).reduceLeft[Expression](And(_, _))) _
    assert(test((1, "text 8"), (2, "text 500")))
    assert(!test((1, "text 8"), (2, "text 501")))
    assert(!test((1, null), (2, "text 500")))
    // Of a short one it is one method.
    assertEquals(methods(none.reduceLeft[Expression](And(_, _))), Set("initialize", "isTrue"))
    assertEquals(
      methods(none.head),
      Set("initialize", "isTrueOf", "firstLeft", "firstRight", "firstOf")
    )
  }

  test("one class serves all partitions of a condition, and says of each what is of it") {
    val condition = EqualTo(sides.left.head, SparkPartitionID())
    val tests = Seq(0, 7).map(PairTest.of(condition, sides, _))
    assertEquals(tests.map(_.getClass).distinct.size, 1)
    val (left, right) = (row(sides.left, 7, "x"), row(sides.right, 0, "x"))
    assertEquals(tests.map(_.isTrueOf(left, right)), Seq(false, true))
  }

  test("where Spark makes no code a condition is evaluated") {
    val factory = SQLConf.CODEGEN_FACTORY_MODE.key
    SQLConf.get.setConfString(factory, "NO_CODEGEN")
    try {
      val test = PairTest.of(LessThan(sides.left.head, sides.right.head), sides, 0)
      assert(!test.getClass.getName.contains("Specific"))
      assert(test.isTrueOf(row(sides.left, 1, "x"), row(sides.right, 2, "y")))
      assert(!test.isTrueOf(row(sides.left, 2, "x"), row(sides.right, 2, "y")))
      assert(!test.isTrueOf(row(sides.left, null, "x"), row(sides.right, 2, "y")))
    } finally SQLConf.get.unsetConf(factory)
  }

  test("the second pair is not the first: the rows are others, and the same objects elsewhere") {
    val test = PairTest.of(LessThan(sides.left.head, sides.right.head), sides, 0)
    val (left, right) = (row(sides.left, 1, "x"), row(sides.right, 2, "y"))
    assert(test.isTrueOf(left, right))
    val greater = row(sides.left, 3, "x")
    assert(!test.isTrueOf(greater, right))
    left.pointTo(greater.getBaseObject, greater.getBaseOffset, greater.getSizeInBytes)
    assert(!test.isTrueOf(left, right))
  }
}

/** Equality that Spark makes no code of. */
final private case class SameWithoutCode(left: Expression, right: Expression)
    extends BinaryExpression
    with CodegenFallback {
  override def dataType: DataType = BooleanType
  override protected def nullSafeEval(a: Any, b: Any): Any = a == b
  override protected def withNewChildrenInternal(l: Expression, r: Expression): Expression =
    copy(left = l, right = r)
}
