// SPDX-License-Identifier: Apache-2.0
// Laws: what is derived from a condition, against Spark's own evaluation of the condition.
package plait.spark

import java.time.ZoneOffset

import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import plait.order.OrderChoice
import plait.spark.translate.{SideExpressions, TermTranslation}
import plait.{BySide, Cases, Side}

class TranslationLaws extends munit.FunSuite {
  import RandomExpressions.zones
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  /** Two columns a side; the right side's are columns 2 and 3 of the pair. */
  final private class Tables(types: Seq[DataType]) {
    def this(dataType: DataType) = this(Seq.fill(4)(dataType))
    val all: Seq[AttributeReference] =
      Seq("a", "b", "s", "t").zip(types).map { case (name, t) => AttributeReference(name, t)() }
    val (left, right) = all.splitAt(2)
  }

  private def integer(random: Random, dataType: DataType): Any = {
    def near(limit: Long) = limit + random.nextInt(7) - 3
    val wide = random.nextInt(10) match {
      case 0 => near(Int.MaxValue)
      case 1 => near(Int.MinValue)
      case 2 =>
        if (random.nextBoolean()) Long.MaxValue - random.nextInt(3)
        else Long.MinValue + random.nextInt(3)
      case _ => random.nextInt(21) - 10L
    }
    dataType match {
      case ByteType => wide.toByte
      case ShortType => wide.toShort
      case IntegerType => wide.toInt
      case _ => wide
    }
  }

  private def arithmetic(
      random: Random,
      tables: Tables,
      depth: Int,
      mode: EvalMode.Value
  ): Expression = {
    val dataType = tables.all.head.dataType
    def sub() = arithmetic(random, tables, depth - 1, mode)
    val context = NumericEvalContext(mode, false)
    if (depth == 0 || random.nextInt(4) == 0)
      if (random.nextInt(3) == 0) Literal(integer(random, dataType), dataType)
      else tables.all(random.nextInt(4))
    else
      random.nextInt(7) match {
        case 0 | 1 | 2 => Add(sub(), sub(), context)
        case 3 | 4 => Subtract(sub(), sub(), context)
        case 5 => UnaryMinus(sub(), mode == EvalMode.ANSI)
        case _ => Multiply(sub(), sub(), context)
      }
  }

  private def comparison(random: Random, l: Expression, r: Expression): Expression =
    random.nextInt(5) match {
      case 0 => LessThan(l, r)
      case 1 => LessThanOrEqual(l, r)
      case 2 => GreaterThan(l, r)
      case 3 => GreaterThanOrEqual(l, r)
      case _ => EqualTo(l, r)
    }

  /** A pair for which the condition is TRUE has each order value in the other's reach, by generated
    * code and by `eval`.
    */
  private def check(
      tables: Tables,
      conjuncts: Seq[Expression],
      pairs: Seq[Seq[Any]]
  ): (Int, Int) = {
    val outputs = BySide(AttributeSet(tables.left), AttributeSet(tables.right))
    val translation = new TermTranslation(outputs)
    val comparisons = conjuncts.flatMap(translation.compare(_))
    OrderChoice.best(comparisons, BySide(Nil, Nil)).toOption match {
      case None => (0, 0)
      case Some(choice) =>
        val ranks = BySide.make { side =>
          SideExpressions
            .of(side, choice, translation)
            .ranks
            .map { e =>
              // Computed from the rows of this side alone.
              assert(e.references.subsetOf(outputs(side)), s"$e of ${side.name} in $conjuncts")
              BindReferences.bindReference(e, tables.all)
            }
        }
        val condition = BindReferences.bindReference(conjuncts.reduce(And(_, _)), tables.all)
        val generated = ranks.map(GenerateUnsafeProjection.generate(_))
        val matched = pairs.map(InternalRow.fromSeq(_)).count { pair =>
          val isTrue = Try(condition.eval(pair)).toOption.contains(true)
          val values = ranks.map(_.map(_.eval(pair)))
          for (side <- Side.both) {
            val row = generated(side)(pair)
            val byCode = Seq(0, 1, 2).map(i => if (row.isNullAt(i)) null else row.getLong(i))
            assertEquals(byCode, values(side), s"${side.name} of $conjuncts")
            if (isTrue) {
              val ends = values(side).tail.map(_.asInstanceOf[Long])
              val (low, high) = (ends.head, ends.last)
              val rank = values(side.other).head.asInstanceOf[Long]
              assert(
                low <= rank && rank <= high,
                s"$rank not in [$low, $high]: ${side.name} of $conjuncts, orders ${choice.orders}, $pair"
              )
            }
          }
          isTrue
        }
        (1, matched)
    }
  }

  /** @param enough for `make test`; ten times that for `make soak` */
  private def run(enough: Int)(one: Random => (Int, Int)): Unit = {
    val conditions = Cases.of(enough, soak = 10 * enough)
    val random = new Random(Cases.seed)
    val results = Seq.fill(conditions)(one(random))
    val (planned, matched) = (results.map(_._1).sum, results.map(_._2).sum)
    assert(planned > conditions / 5, s"only $planned of $conditions conditions were understood")
    assert(matched > planned, s"only $matched pairs matched under $planned conditions")
  }

  for (dataType <- Seq(ByteType, IntegerType, LongType))
    test(s"integers of type ${dataType.sql}, in every evaluation mode, near the limits too") {
      run(340) { random =>
        val tables = new Tables(dataType)
        val mode = EvalMode.values.toSeq(random.nextInt(EvalMode.values.size))
        val conjuncts = Seq.fill(1 + random.nextInt(2)) {
          def side = arithmetic(random, tables, random.nextInt(3), mode)
          comparison(random, side, side)
        }
        val pairs = Seq.fill(60)(
          Seq.fill(4)(if (random.nextInt(10) == 0) null else integer(random, dataType))
        )
        check(tables, conjuncts, pairs)
      }
    }

  private val micros = 1000000L
  // Around the changes of clocks: Berlin, New York, St John's (00:01), and Apia's skipped day.
  private val changes = Seq(
    "2026-03-29T01:00:00",
    "2026-10-25T01:00:00",
    "2026-03-08T07:00:00",
    "2026-11-01T06:00:00",
    "2010-11-07T02:31:00",
    "2011-12-30T10:00:00"
  ).map(java.time.LocalDateTime.parse(_).toEpochSecond(ZoneOffset.UTC) * micros)

  private def instant(random: Random): Long =
    if (random.nextInt(15) == 0) Long.MaxValue - random.nextInt(3) * 1800L * micros
    else if (random.nextInt(15) == 0) Long.MinValue + random.nextInt(3) * 1800L * micros
    else changes(random.nextInt(changes.size)) + (random.nextInt(97) - 48) * 1800L * micros

  private def interval(random: Random): Literal = {
    val hours = Seq(0, 1, 3, 23, 24, 25, 48)(random.nextInt(7))
    val length = (if (random.nextBoolean()) 1 else -1) * hours * 3600L * micros
    Literal(length, DayTimeIntervalType())
  }

  for (dataType <- Seq(TimestampType, TimestampNTZType); zone <- zones)
    test(s"${dataType.sql} and intervals around changes of the clock in $zone") {
      SQLConf.get.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, zone)
      try
        run(340) { random =>
          val tables = new Tables(dataType)
          def shifted: Expression = {
            val c = tables.all(random.nextInt(4))
            if (random.nextBoolean()) TimestampAddInterval(c, interval(random), Some(zone)) else c
          }
          val conjuncts = Seq.fill(1 + random.nextInt(2)) {
            if (random.nextInt(3) > 0) comparison(random, shifted, shifted)
            else
              comparison(
                random,
                SubtractTimestamps(shifted, shifted, false, Some(zone)),
                interval(random)
              )
          }
          val pairs = Seq.fill(60)(
            Seq.fill(4)(if (random.nextInt(10) == 0) null else instant(random))
          )
          check(tables, conjuncts, pairs)
        }
      finally SQLConf.get.unsetConf(SQLConf.SESSION_LOCAL_TIMEZONE)
    }

  test("dates, date_add that wraps, and differences of dates") {
    run(340) { random =>
      val tables = new Tables(DateType)
      def day: Any = random.nextInt(12) match {
        case 0 => Int.MaxValue - random.nextInt(4)
        case 1 => Int.MinValue + random.nextInt(4)
        case _ => 20000 + random.nextInt(20)
      }
      def shifted: Expression = {
        val c = tables.all(random.nextInt(4))
        val days = Literal(random.nextInt(9) - 4)
        random.nextInt(3) match {
          case 0 => DateAdd(c, days)
          case 1 => DateSub(c, days)
          case _ => c
        }
      }
      val conjuncts = Seq.fill(1 + random.nextInt(2)) {
        if (random.nextInt(3) > 0) comparison(random, shifted, shifted)
        else
          comparison(
            random,
            SubtractDates(shifted, shifted, false),
            Literal((random.nextInt(13) - 6) * 43200L * micros, DayTimeIntervalType(0, 0))
          )
      }
      check(
        tables,
        conjuncts,
        Seq.fill(60)(Seq.fill(4)(if (random.nextInt(10) == 0) null else day))
      )
    }
  }

  /** What no formula looks into, of one side or of both. */
  private def opaque(random: Random, x: Expression, y: Expression): Expression =
    if (random.nextBoolean()) CaseWhen(Seq(LessThan(x, y) -> x), y)
    else Cast(Multiply(Cast(x, DoubleType), Cast(y, DoubleType)), x.dataType)

  private def real(random: Random, tables: Tables, depth: Int, mode: EvalMode.Value): Expression = {
    val dataType = tables.all.head.dataType
    val context = NumericEvalContext(mode, false)
    def sub() = real(random, tables, depth - 1, mode)
    if (depth == 0)
      if (random.nextInt(4) == 0) Literal(RandomValues.notNull(random, dataType), dataType)
      else tables.all(random.nextInt(4))
    else
      random.nextInt(9) match {
        case 8 => opaque(random, tables.all(random.nextInt(4)), tables.all(random.nextInt(4)))
        case 0 | 1 => Add(sub(), sub(), context)
        case 2 | 3 | 4 => Subtract(sub(), sub(), context)
        case 5 => UnaryMinus(sub(), mode == EvalMode.ANSI)
        case 6 => Abs(sub(), mode == EvalMode.ANSI)
        case _ =>
          val to = Seq(FloatType, DoubleType, dataType)(random.nextInt(3))
          Cast(Cast(sub(), to, None, mode), dataType, None, mode)
      }
  }

  /** As the analyzer does it: both sides of a comparison have one type. */
  private def coerced(l: Expression, r: Expression): (Expression, Expression) =
    (l.dataType, r.dataType) match {
      case (a: DecimalType, b: DecimalType) if a != b =>
        val scale = a.scale max b.scale
        val digits = (a.precision - a.scale max b.precision - b.scale) + scale
        val to = DecimalType(digits min 38, scale)
        (Cast(l, to), Cast(r, to))
      case _ => (l, r)
    }

  for (
    dataType <- Seq(
      FloatType,
      DoubleType,
      DecimalType(5, 2),
      DecimalType(18, 6),
      DecimalType(38, 10),
      DecimalType(38, 37)
    )
  )
    test(s"sums of ${dataType.sql} across the sides, rounded, infinite, NaN, too large") {
      run(340) { random =>
        val tables = new Tables(dataType)
        val mode = EvalMode.values.toSeq(random.nextInt(EvalMode.values.size))
        val conjuncts = Seq.fill(1 + random.nextInt(2)) {
          def side = real(random, tables, random.nextInt(3), mode)
          val (l, r) = coerced(side, side)
          comparison(random, l, r)
        }
        val pairs = Seq.fill(60) {
          val values = Seq.fill(4)(new RandomValues(random).of(dataType))
          if (random.nextBoolean()) values else Seq.fill(4)(values(random.nextInt(4)))
        }
        check(tables, conjuncts, pairs)
      }
    }

  /** As the analyzer makes the operands of a sum numbers of one kind. */
  private def ofOneKind(l: Expression, r: Expression): (Expression, Expression) = {
    def both(to: DataType) = (Cast(l, to), Cast(r, to))
    (l.dataType, r.dataType) match {
      case (a, b) if a == b => (l, r)
      case (FloatType | DoubleType, _) | (_, FloatType | DoubleType) => both(DoubleType)
      case (_: DecimalType, _: DecimalType) => (l, r)
      case (_, _: DecimalType) => (Cast(l, digitsOf(l.dataType)), r)
      case (_: DecimalType, _) => (l, Cast(r, digitsOf(r.dataType)))
      case (a, b) => both(if (a.defaultSize > b.defaultSize) a else b)
    }
  }

  private def digitsOf(whole: DataType): DecimalType =
    DecimalType(
      whole.defaultSize match {
        case 1 => 3
        case 4 => 10
        case _ => 20
      },
      0
    )

  private val numbers = Seq(
    ByteType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(5, 2),
    DecimalType(12, 2),
    DecimalType(20, 0)
  )

  /** Near enough to others for comparisons to be TRUE, seldom on the edge. */
  private def near(random: Random, dataType: DataType): Any = dataType match {
    case d: DecimalType =>
      val least = d.scale - 1 max 0
      Decimal(BigDecimal(random.nextInt(201) - 100L, least), d.precision, d.scale)
    case FloatType => (random.nextInt(81) - 40) / 4f
    case DoubleType => (random.nextInt(81) - 40) / 4d
    case _ => integer(random, dataType)
  }

  test("numbers of different types, of which casts make one") {
    run(400) { random =>
      val tables = new Tables(Seq.fill(4)(numbers(random.nextInt(numbers.size))))
      val mode = EvalMode.values.toSeq(random.nextInt(EvalMode.values.size))
      val context = NumericEvalContext(mode, false)
      def side: Expression = {
        def column = tables.all(random.nextInt(4))
        if (random.nextBoolean()) column
        else {
          val (l, r) = ofOneKind(column, column)
          if (random.nextBoolean()) Add(l, r, context) else Subtract(l, r, context)
        }
      }
      val conjuncts = Seq.fill(1 + random.nextInt(2)) {
        val (a, b) = ofOneKind(side, side)
        val (l, r) = coerced(a, b)
        comparison(random, l, r)
      }
      val pairs = Seq.fill(60)(
        tables.all.map(c => if (random.nextInt(10) == 0) null else near(random, c.dataType))
      )
      check(tables, conjuncts, pairs)
    }
  }
}
